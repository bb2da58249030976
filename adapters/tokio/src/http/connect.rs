//! Opens connections: TCP, proxies, TLS, and their time limit.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;
/// The idle time before TCP sends keep-alive probes, and the interval between them.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Opens connections, with TLS if the scheme of the URL is `https`.
#[cfg(feature = "https")]
pub(super) type Secured = hyper_rustls::HttpsConnector<Proxied>;
#[cfg(not(feature = "https"))]
pub(super) type Secured = Proxied;

/// Returns a connector that uses the proxies that environment variables name. With the feature `https`, the connector
/// trusts the root certificates of Mozilla. `time` limits the time to open a connection.
pub(super) fn connector(time: Duration) -> io::Result<Limited<Secured>> {
    let proxied = Proxied::new(Matcher::from_env());
    #[cfg(feature = "https")]
    let connector = tls::secured(proxied, tls::default_config()?);
    #[cfg(not(feature = "https"))]
    let connector = proxied;
    Ok(Limited { connector, time })
}

#[cfg(feature = "https")]
mod tls {
    use std::io;
    use std::sync::Arc;

    use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
    use rustls::ClientConfig;

    use super::{Proxied, Secured};

    pub(super) fn default_config() -> io::Result<ClientConfig> {
        // Select the provider explicitly, because the process may have no default.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        Ok(builder.map_err(io::Error::other)?.with_webpki_roots().with_no_client_auth())
    }

    pub(super) fn secured(proxied: Proxied, config: ClientConfig) -> Secured {
        let builder = HttpsConnectorBuilder::new().with_tls_config(config);
        builder.https_or_http().enable_http1().wrap_connector(proxied)
    }
}

/// Opens TCP connections, possibly through a proxy.
#[derive(Clone)]
pub(super) struct Proxied {
    connector: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Proxied {
    fn new(proxies: Matcher) -> Proxied {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        // Without keep-alive, an idle event stream would not detect that its server has disappeared.
        connector.set_keepalive(Some(KEEP_ALIVE));
        connector.set_keepalive_interval(Some(KEEP_ALIVE));
        Proxied { connector, proxies: Arc::new(proxies) }
    }
}

impl Service<Uri> for Proxied {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Connecting<TokioIo<TcpStream>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&uri) else {
            let connecting = self.connector.call(uri);
            return Box::pin(async { Ok(connecting.await?) });
        };
        if proxy.uri().scheme_str() != Some("http") {
            return Box::pin(async { Err("the proxy has a scheme other than http".into()) });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.connector.clone());
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        let connecting = tunnel.call(uri);
        Box::pin(async { Ok(connecting.await?) })
    }
}

/// Limits the time to open a connection, including its TLS handshake.
#[derive(Clone)]
pub(super) struct Limited<C> {
    connector: C,
    time: Duration,
}

impl<C: Service<Uri, Error = BoxError>> Service<Uri> for Limited<C>
where
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Connecting<C::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, time) = (self.connector.call(uri), self.time);
        Box::pin(async move {
            let elapsed = |_| format!("no connection within {} ms", time.as_millis());
            timeout(time, connecting).await.map_err(elapsed)?
        })
    }
}

#[cfg(all(test, feature = "https"))]
mod tests {
    use std::net::SocketAddr;

    use hyper_util::rt::TokioIo;
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use rustls::{ClientConfig, RootCertStore, ServerConfig};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// Starts a TLS server that sends `hello` to each connection. The certificate is for `localhost`.
    async fn tls_server() -> SocketAddr {
        let certificate = CertificateDer::from(&include_bytes!("../../tests/tls/server.der")[..]);
        let key = PrivatePkcs8KeyDer::from(&include_bytes!("../../tests/tls/server.key.der")[..]);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_no_client_auth().with_single_cert(vec![certificate], key.into());
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    stream.write_all(b"hello").await.unwrap();
                }
            }
        });
        address
    }

    /// Starts a proxy that connects to `target` for each request. Returns the address of the proxy and the requests.
    async fn proxy(target: SocketAddr) -> (SocketAddr, tokio::sync::mpsc::UnboundedReceiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (mut here, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(here.read_u8().await.unwrap());
                }
                let request = String::from_utf8(request).unwrap();
                sender.send(request).unwrap();
                here.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                tokio::spawn(async move {
                    let mut there = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
                });
            }
        });
        (address, requests)
    }

    /// Returns a connector that trusts either the authority of the test or the root certificates of Mozilla.
    fn connector_with(proxies: Matcher, trusts_test: bool) -> Limited<Secured> {
        let mut config = tls::default_config().unwrap();
        if trusts_test {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from(&include_bytes!("../../tests/tls/authority.der")[..])).unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
            config = builder.unwrap().with_root_certificates(roots).with_no_client_auth();
        }
        let time = Duration::from_secs(10);
        Limited { connector: tls::secured(Proxied::new(proxies), config), time }
    }

    async fn read_hello(mut connector: Limited<Secured>, url: String) -> Result<String, String> {
        let stream = connector.call(url.parse().unwrap()).await.map_err(|error| format!("{error:?}"))?;
        let mut bytes = [0; 5];
        TokioIo::new(stream).read_exact(&mut bytes).await.map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[tokio::test]
    async fn certificate_of_a_trusted_authority_is_accepted() {
        let port = tls_server().await.port();
        let none = || Matcher::builder().build();
        let url = format!("https://localhost:{port}/mcp");
        assert_eq!(read_hello(connector_with(none(), true), url.clone()).await.unwrap(), "hello");
        let error = read_hello(connector_with(none(), false), url).await.unwrap_err();
        assert!(error.contains("UnknownIssuer"), "{error}");
    }

    #[tokio::test]
    async fn certificate_for_another_host_is_refused() {
        let (address, _requests) = proxy(tls_server().await).await;
        let proxies = Matcher::builder().all(format!("http://{address}")).build();
        let error =
            read_hello(connector_with(proxies, true), "https://example.com/".into()).await.unwrap_err();
        assert!(error.contains("NotValidForName"), "{error}");
    }

    #[tokio::test]
    async fn proxy_tunnels_all_hosts_except_excluded_hosts() {
        let server = tls_server().await;
        let port = server.port();
        let (address, mut requests) = proxy(server).await;
        let proxies =
            || Matcher::builder().all(format!("http://user:pass@{address}")).no("127.0.0.1").build();
        let url = format!("https://localhost:{port}/mcp");
        assert_eq!(read_hello(connector_with(proxies(), true), url).await.unwrap(), "hello");
        let request = requests.recv().await.unwrap();
        assert!(request.starts_with(&format!("CONNECT localhost:{port} HTTP/1.1\r\n")), "{request}");
        assert!(request.to_ascii_lowercase().contains("proxy-authorization: basic "), "{request}");
        let url = format!("https://127.0.0.1:{port}/mcp");
        assert_eq!(read_hello(connector_with(proxies(), true), url).await.unwrap(), "hello");
        assert!(requests.try_recv().is_err(), "NO_PROXY names this host");
        let socks = Matcher::builder().all("socks5://localhost:1").build();
        let error = read_hello(connector_with(socks, true), "http://example.com".into()).await.unwrap_err();
        assert!(error.contains("other than http"), "{error}");
    }

    #[tokio::test]
    async fn handshake_that_takes_too_long_fails() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/mcp", listener.local_addr().unwrap());
        let mut connector = connector_with(Matcher::builder().build(), true);
        connector.time = Duration::from_millis(50);
        let error = read_hello(connector, url).await.unwrap_err();
        assert!(error.contains("no connection within 50 ms"), "{error}");
    }
}
