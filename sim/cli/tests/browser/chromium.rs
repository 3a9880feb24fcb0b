//! A browser that is driven through its pipe: messages of the `DevTools` protocol, each ended by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The shell gives the browser its pipe: it reads messages on descriptor 3 and writes them on 4.
const START: &str = "exec chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
                     --remote-debugging-pipe --user-data-dir=\"$0\" about:blank 3<&0 4>&1 >/dev/null 2>/dev/null";

pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// What happened besides answers.
    events: Vec<Value>,
    session: String,
    page: String,
}

impl Browser {
    /// A browser with a profile of its own and an empty page.
    pub fn start(profile: &Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", START])
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (session, page) = (String::new(), String::new());
        let mut browser = Self { child, input, output, last: 0, events: Vec::new(), session, page };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut text = Vec::new();
            self.output.read_until(0, &mut text).unwrap();
            text.pop();
            let answer: Value = serde_json::from_slice(&text).unwrap();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// The screen, in pixels, and its colours.
    pub fn screen(&mut self, width: u32, is_dark: bool) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Opens a file and waits until all of it is drawn. Returns how long that took.
    pub fn open(&mut self, path: &Path) -> Duration {
        self.events.clear();
        self.page = format!("file://{}", path.display());
        let begun = Instant::now();
        self.call("Page.navigate", &json!({"url": "about:blank"}));
        self.call("Page.navigate", &json!({"url": self.page}));
        while self.says("document.body && document.body.dataset.ready") != "all" {
            assert!(begun.elapsed() < Duration::from_secs(60), "never drawn: {:?}", self.problems());
            std::thread::sleep(Duration::from_millis(20));
        }
        let taken = begun.elapsed();
        // What is near the screen is drawn with the next frames.
        self.value("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
        taken
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.call("Runtime.evaluate", &asked);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// The text of an expression.
    pub fn says(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Clicks on the element that an expression finds, and waits until the page has drawn again.
    pub fn click(&mut self, element: &str) {
        self.value(&format!(
            "(async () => {{ const found = {element}; found.dispatchEvent(new MouseEvent('click', {{bubbles: true}}));
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); }})()"
        ));
    }

    /// Errors, warnings, and everything that the page wanted to load besides itself.
    pub fn problems(&mut self) -> Vec<String> {
        // So that events that were sent before are here.
        self.value("1");
        let is_own = |url: &Value| url.as_str().is_some_and(|url| url == self.page || url == "about:blank");
        let found = self.events.iter().filter(|event| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => true,
            Some("Network.requestWillBeSent") => !is_own(&event["params"]["request"]["url"]),
            _ => false,
        });
        found.map(ToString::to_string).collect()
    }

    /// Keeps a picture of the whole page, if the environment names a folder.
    pub fn keep(&mut self, name: &str) {
        use base64::Engine;
        let Some(folder) = std::env::var_os("FORKCAST_SCREENSHOTS") else { return };
        self.value("(async () => { dispatchEvent(new Event('beforeprint')); await new Promise((done) => setTimeout(done, 300)); })()");
        let taken = self.call("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        let png = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), png).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
