//! The checks of each group of features in `GROUPS` of `main.rs`.

use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::*;
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::PATIENCE;
use crate::world::{Checked, World, expect, of};

impl World {
    pub(crate) async fn check(&self, group: &str) -> Checked {
        match group {
            "finds the era" | "tools" => self.tools().await,
            "side by side" => self.side_by_side().await,
            "ping" => {
                let ping = ClientRequest::PingRequest(PingRequest::default());
                self.client.send_request(ping).await.map(drop).map_err(of("ping"))
            }
            "content" => self.content().await,
            "structured content" => {
                let sum = self.call("add", json!({"a": 1, "b": 2})).await?;
                let wanted = if self.since("2025-06-18") { json!({"sum": 3}) } else { Value::Null };
                expect("structuredContent", &sum["structuredContent"], &wanted)
            }
            "progress" => {
                self.text("test_tool_with_progress", json!({})).await?;
                // rmcp handles each notification in a task of its own. So the handler may record the notifications
                // in any order, and after the response.
                let mut steps = Vec::new();
                while steps.len() < 3 {
                    steps.push(self.host.hears("progress").await?.to_string());
                }
                steps.sort();
                expect("steps", steps.join(" "), "[0.0,2.0] [1.0,2.0] [2.0,2.0]".into())
            }
            "cancel" => self.cancel().await,
            "logging" => self.logging().await,
            "resources" => self.resources().await,
            "templates" => {
                let listed = self.client.list_all_resource_templates().await.map_err(of("templates"))?;
                let listed: Vec<_> = listed.iter().map(|it| it.uri_template.as_str()).collect();
                expect("templates", listed, vec!["note://{name}", "test://template/{id}/data"])?;
                let part = self.first_part("test://template/123/data").await?;
                expect("media type", part["mimeType"].as_str(), Some("application/json"))
            }
            "list changes" => self.changes().await,
            "subscriptions" => self.subscriptions().await,
            "prompts" => self.prompts().await,
            "completion" => {
                let values =
                    self.client.complete_prompt_simple("test_prompt_with_arguments", "arg1", "par").await;
                expect("par", values.map_err(of("completion"))?.join(" "), "paris park party".into())
            }
            "sampling" => {
                let text = self.text("test_sampling", json!({"prompt": "say something"})).await?;
                expect("what the model said", text, "LLM response: made by a model".into())?;
                let asked = self.host.hears("sampling").await?;
                expect("maxTokens", &asked["maxTokens"], &json!(100))
            }
            "roots" => {
                expect("roots", self.text("ask_roots", json!({})).await?, "Roots: file:///home/ada".into())
            }
            "elicitation" => self.elicitation().await,
            "url elicitation" => {
                self.answers(json!({"action": "accept"}));
                let text = self.text("ask_page", json!({})).await?;
                let asked = self.host.hears("elicitation").await?;
                expect("mode", &asked["mode"], &json!("url"))?;
                expect("action", text.contains("action=accept"), true)
            }
            "rounds" => self.rounds().await,
            "skills" => self.skills().await,
            "tasks" => self.tasks().await,
            _ => Err("no such group".into()),
        }
    }

    async fn tools(&self) -> Checked {
        let listed = self.client.list_all_tools().await.map_err(of("listing"))?;
        let echo = listed.iter().find(|tool| tool.name == "echo").ok_or("echo is not listed")?;
        expect("type of its input", echo.input_schema.get("type"), Some(&json!("object")))?;
        for text in ["", "päivää 👩‍🚀", "a\r\nb\tc \u{2028} \u{0}", &"0123456789".repeat(1000)] {
            expect("echo", self.text("echo", json!({"message": text})).await?, text.into())?;
        }
        for (tool, arguments) in [("no_such_tool", json!({})), ("add", json!({"a": "x", "b": 1}))] {
            match self.client.call_tool(self.parameters(tool, arguments)).await {
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {}
                Ok(result) if tool == "add" && result.is_error == Some(true) => {}
                other => return Err(format!("{tool} must be refused, but is {other:?}")),
            }
        }
        Ok(())
    }

    async fn side_by_side(&self) -> Checked {
        let slow = self.text("slow", json!({"seconds": 1}));
        let messages: Vec<_> = (0..20).map(|number| format!("call {number} 👋")).collect();
        let calls = messages.iter().map(|message| self.text("echo", json!({"message": message})));
        let mut slow = std::pin::pin!(slow);
        let echoes = tokio::select! {
            _ = &mut slow => return Err("slow was over before the others: calls do not run beside each other".into()),
            echoes = futures::future::try_join_all(calls) => echoes?,
        };
        expect("20 calls at once", echoes, messages)?;
        expect("slow", slow.await?.is_empty(), false)?;
        self.host.take("progress");
        Ok(())
    }

    async fn content(&self) -> Checked {
        let kinds = |result: &Value| -> Vec<String> {
            let blocks = result["content"].as_array().into_iter().flatten();
            blocks.map(|block| block["type"].as_str().unwrap_or("?").to_owned()).collect()
        };
        let image = self.call("test_image_content", json!({})).await?;
        expect("an image", image["content"][0]["mimeType"].as_str(), Some("image/png"))?;
        if self.since("2025-03-26") {
            let sound = self.call("test_audio_content", json!({})).await?;
            expect("sound", sound["content"][0]["mimeType"].as_str(), Some("audio/wav"))?;
        }
        let several = kinds(&self.call("test_multiple_content_types", json!({})).await?);
        expect("several kinds", several.join(" "), "text image resource".into())?;
        let shown = kinds(&self.call("show_content", json!({})).await?);
        expect("a link", shown.contains(&"resource_link".into()), self.since("2025-06-18"))?;
        let failed = self.call("test_error_handling", json!({})).await?;
        expect("isError", &failed["isError"], &json!(true))
    }

    async fn cancel(&self) -> Checked {
        let params = self.parameters("slow", json!({"seconds": 20}));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(Duration::from_millis(300));
        let handle = self.client.send_cancellable_request(request, options).await.map_err(of("slow"))?;
        match handle.await_response().await {
            Err(ServiceError::Timeout { .. }) => {}
            other => return Err(format!("slow must not be answered, but is {other:?}")),
        }
        expect("echo", self.text("echo", json!({"message": "still there"})).await?, "still there".into())?;
        self.host.take("progress");
        Ok(())
    }

    async fn logging(&self) -> Checked {
        if !self.stateless {
            let level = SetLevelRequestParams::new(LoggingLevel::Info);
            self.client.set_level(level).await.map_err(of("the level"))?;
        }
        self.text("log", json!({"text": "hi"})).await?;
        let mut levels = Vec::new();
        for _ in 0..7 {
            levels.push(self.host.hears("log").await?.as_str().unwrap_or("?").to_owned());
        }
        levels.sort();
        expect("levels", levels.join(" "), "alert critical emergency error info notice warning".into())
    }

    async fn resources(&self) -> Checked {
        let listed = self.client.list_all_resources().await.map_err(of("listing"))?;
        expect("static-text", listed.iter().any(|it| it.uri == "test://static-text"), true)?;
        let text = self.first_part("test://static-text").await?;
        expect("text", text["text"].as_str(), Some("This is the content of the static text resource."))?;
        let bytes = self.first_part("test://static-binary").await?;
        expect("bytes", bytes["blob"].as_str().is_some_and(|blob| blob.starts_with("iVBOR")), true)?;
        let params = ReadResourceRequestParams::new("test://nonexistent");
        match self.client.read_resource(params).await {
            Err(ServiceError::McpError(error)) => {
                expect("error code", error.code.0, if self.stateless { -32602 } else { -32002 })
            }
            other => Err(format!("what is not there must be refused, but is {other:?}")),
        }
    }

    async fn skills(&self) -> Checked {
        let listed = self.client.list_all_skills().await.map_err(of("listing"))?;
        let uris: Vec<_> = listed.iter().map(|skill| skill.uri.as_str()).collect();
        expect("skills", uris, vec!["skill://take-notes/SKILL.md", "skill://everything/clock/SKILL.md"])?;
        for skill in &listed {
            let got =
                self.client.get_skill(GetSkillRequestParams::new(&skill.uri)).await.map_err(of("getting"))?;
            expect("the skill", &got.skill, skill)?;
            skill.validate().map_err(|error| error.to_string())?;
            let SkillResources::Files(files) = &skill.resources else { return Err("no files".into()) };
            for file in files {
                let part = self.first_part(&file.uri).await?;
                let text = part["text"].as_str().unwrap_or_default();
                file.verify(text.as_bytes()).map_err(|error| error.to_string())?;
            }
        }
        let params = GetSkillRequestParams::new("skill://nonexistent/SKILL.md");
        match self.client.get_skill(params).await {
            Err(ServiceError::McpError(error)) => expect("error code", error.code.0, -32602)?,
            other => return Err(format!("what is not there must be refused, but is {other:?}")),
        }
        let folder = ReadResourceDirectoryRequestParams::new("skill://take-notes");
        let found = self.client.read_resource_directory(folder).await.map_err(of("the folder"))?;
        let found: Vec<_> = found.resources.iter().map(|it| (it.name.as_str(), it.is_directory())).collect();
        expect("the folder", found, vec![("take-notes", false), ("examples", true)])
    }

    async fn changes(&self) -> Checked {
        let what = ["resources changed", "tools changed", "prompts changed"];
        let cause = ["write_note", "test_trigger_tool_change", "test_trigger_prompt_change"];
        let filter = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed();
        let filter = filter.resources_list_changed().build();
        let mut subscription = match self.stateless {
            true => Some(self.client.listen(filter).await.map_err(of("listen"))?),
            false => None,
        };
        for (tool, heard) in cause.into_iter().zip(what) {
            self.call(tool, json!({"name": "todo", "text": "interop"})).await?;
            match &mut subscription {
                Some(subscription) => {
                    let next =
                        timeout(PATIENCE, subscription.next()).await.map_err(|_| "nothing is heard")?;
                    let next = json!(next.map_err(of("listen"))?.ok_or("the subscription has ended")?);
                    let kind = heard.split(' ').next().unwrap_or_default();
                    let wanted = format!("notifications/{kind}/list_changed");
                    expect("what changed", next["method"].as_str(), Some(&*wanted))?;
                }
                None => _ = self.host.hears(heard).await?,
            }
        }
        self.text("remove_note", json!({"name": "todo"})).await?;
        match &mut subscription {
            Some(subscription) => subscription.cancel().await.map_err(of("cancel")),
            None => self.host.hears("resources changed").await.map(drop),
        }
    }

    async fn subscriptions(&self) -> Checked {
        let uri = "clock://ticks";
        if self.stateless {
            let filter: SubscriptionFilter =
                serde_json::from_value(json!({"resourceSubscriptions": [uri]})).unwrap();
            let mut subscription = self.client.listen(filter.clone()).await.map_err(of("listen"))?;
            expect("what is honored", json!(subscription.acknowledged()), json!(filter))?;
            for _ in 0..2 {
                self.text("tick", json!({})).await?;
                let next = timeout(PATIENCE, subscription.next()).await.map_err(|_| "nothing is heard")?;
                let next = json!(next.map_err(of("listen"))?.ok_or("the subscription has ended")?);
                expect("uri", next["params"]["uri"].as_str(), Some(uri))?;
            }
            return subscription.cancel().await.map_err(of("cancel"));
        }
        self.client.subscribe(SubscribeRequestParams::new(uri)).await.map_err(of("subscribe"))?;
        self.text("tick", json!({})).await?;
        expect("uri", self.host.hears("updated").await?.as_str(), Some(uri))?;
        self.client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.map_err(of("unsubscribe"))?;
        self.text("tick", json!({})).await?;
        self.text("tick", json!({})).await?;
        expect("heard after it was ended", self.host.take("updated"), vec![])
    }

    async fn prompts(&self) -> Checked {
        let listed = self.client.list_all_prompts().await.map_err(of("listing"))?;
        expect("listed", listed.iter().any(|it| it.name == "test_prompt_with_arguments"), true)?;
        let said = self.prompt("test_prompt_with_arguments", json!({"arg1": "ä", "arg2": "b"})).await;
        let said = said.map_err(of("a prompt"))?;
        let text = said[0]["content"]["text"].as_str();
        expect("its arguments", text, Some("Prompt with arguments: arg1='ä', arg2='b'"))?;
        let said = self.prompt("test_prompt_with_image", json!({})).await.map_err(of("an image"))?;
        expect("an image in it", said[0]["content"]["type"].as_str(), Some("image"))?;
        match self.prompt("no_such_prompt", json!({})).await {
            Err(ServiceError::McpError(error)) => expect("error code", error.code, ErrorCode::INVALID_PARAMS),
            other => Err(format!("an unknown prompt must be refused, but is {other:?}")),
        }
    }

    async fn elicitation(&self) -> Checked {
        self.answers(json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}}));
        let text = self.text("test_elicitation", json!({"message": "Who?"})).await?;
        expect("accept", text.contains("action=accept") && text.contains("ada@example.com"), true)?;
        expect("what was asked", self.host.hears("elicitation").await?["message"].as_str(), Some("Who?"))?;
        for action in ["decline", "cancel"] {
            self.answers(json!({"action": action}));
            let text = self.text("test_elicitation", json!({"message": "Who?"})).await?;
            expect(action, text.contains(&format!("action={action}")), true)?;
        }
        self.host.take("elicitation");
        Ok(())
    }

    async fn rounds(&self) -> Checked {
        self.answers(json!({"action": "accept", "content": {"name": "Ada", "color": "blue", "ok": true, "context": "c"}}));
        let hello = self.text("test_input_required_result_elicitation", json!({})).await?;
        expect("one round", hello, "Hello, Ada!".into())?;
        let state = self.text("test_input_required_result_request_state", json!({})).await?;
        expect("a state", state.contains("state-ok"), true)?;
        let several = self.text("test_input_required_result_multiple_inputs", json!({})).await?;
        expect("three questions at once", several, r#"made by a model, "Ada", in 1 roots"#.into())?;
        let two = self.text("test_input_required_result_multi_round", json!({})).await?;
        expect("two rounds", two.contains("blue"), true)?;
        let said = self.prompt("test_input_required_result_prompt", json!({})).await;
        expect("a prompt that asks", said.map_err(of("a prompt that asks"))?[0].is_object(), true)
    }

    /// Calls a tool. Returns the id of the task that the call has created, or an error if there is none.
    async fn task(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let called = self.client.call_tool_once(self.parameters(tool, arguments)).await.map_err(of(tool))?;
        match called {
            CallToolResponse::Task(created) => Ok(created.task.task_id),
            other => Err(format!("{tool}: expected a task, got {other:?}")),
        }
    }

    /// Polls a task up to 300 times, until the task has this status. Returns the task with its result.
    async fn task_with(&self, id: &str, status: &str) -> Result<Value, String> {
        for _ in 0..300 {
            let params = GetTaskParams::new(id.to_owned());
            let task = json!(self.client.get_task(params).await.map_err(of("tasks/get"))?);
            if task["status"] == status {
                return Ok(task);
            }
            sleep(Duration::from_millis(50)).await;
        }
        Err(format!("the task does not become {status}"))
    }

    async fn tasks(&self) -> Checked {
        let id = self.task("slow_compute", json!({"seconds": 1, "label": "sum"})).await?;
        let task = self.task_with(&id, "completed").await?;
        let text = &task["result"]["content"][0]["text"];
        expect("result", text, &json!("sum: computed for 1 s"))?;

        let id = self.task("protocol_error_job", json!({})).await?;
        let task = self.task_with(&id, "failed").await?;
        expect("error", &task["error"]["code"], &json!(-32603))?;

        let id = self.task("multi_input", json!({})).await?;
        let task = self.task_with(&id, "input_required").await?;
        expect("method", &task["inputRequests"]["first"]["method"], &json!("elicitation/create"))?;
        let name = json!({"action": "accept", "content": {"name": "Ada"}});
        let update = json!({"taskId": id, "inputResponses": {"first": name, "second": name}});
        let update = serde_json::from_value(update).map_err(|error| error.to_string())?;
        self.client.update_task(update).await.map_err(of("tasks/update"))?;
        self.task_with(&id, "completed").await?;

        let id = self.task("slow_compute", json!({"seconds": 60})).await?;
        let cancel = serde_json::from_value(json!({"taskId": id})).map_err(|error| error.to_string())?;
        self.client.cancel_task(cancel).await.map_err(of("tasks/cancel"))?;
        self.task_with(&id, "cancelled").await.map(drop)
    }
}
