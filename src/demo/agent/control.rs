//! What the host orders: control requests and their answers, and how far its messages have come.

use super::dialect::UNSUPPORTED;
use super::host::{Course, Host, Woke};
use super::line;
use super::records;
use serde_json::{Value, json};

impl Host {
    /// Tells how far a message has come; the older way says nothing.
    pub fn follow(&self, uuid: &Value, state: &str) {
        if self.dialect().is_newer() && uuid.is_string() {
            self.emit(&json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state, "uuid": line::uuid(),
                              "session_id": self.session()}));
        }
    }

    /// Obeys a control request and answers it.
    pub(super) fn obey(&mut self, said: &Value) -> Woke {
        let (id, request) = (&said["request_id"], &said["request"]);
        let answer = match request["subtype"].as_str().unwrap_or_default() {
            "initialize" => {
                self.hooks = request["hooks"].clone();
                Ok(Some(records::initialized()))
            }
            "interrupt" => {
                if self.course != Course::Idle {
                    self.withdraw();
                }
                let queued: Vec<&Value> = self.inbox.iter().map(|message| &message.record["uuid"]).collect();
                let told = self.dialect().is_newer().then(|| json!({"still_queued": queued}));
                self.emit(&records::answered(id, Ok(told)));
                return self.abort();
            }
            "cancel_async_message" => {
                let before = self.inbox.len();
                self.inbox.retain(|message| message.record["uuid"] != request["message_uuid"]);
                let cancelled = self.inbox.len() < before;
                if cancelled {
                    self.follow(&request["message_uuid"], "cancelled");
                }
                Ok(Some(json!({"cancelled": cancelled})))
            }
            "end_session" => {
                self.emit(&records::answered(id, Ok(None)));
                return self.close();
            }
            "get_settings" => Ok(Some(self.settings.answer(self.dialect(), &self.model))),
            "get_plan" if self.dialect().is_newer() => Ok(Some(json!({"exists": false}))),
            "set_permission_mode" if request["mode"] == "bypassPermissions" && !self.skip_permissions => {
                Err("Cannot set permission mode to bypassPermissions because the session was not launched with \
                 --dangerously-skip-permissions"
                    .to_owned())
            }
            "set_permission_mode" => {
                request["mode"].as_str().unwrap_or("default").clone_into(&mut self.mode);
                self.emit(&records::answered(id, Ok(Some(json!({"mode": self.mode})))));
                self.emit(&records::mode_changed(self.session(), &self.mode));
                return Woke::Stirred;
            }
            "set_model" => {
                self.model = self.dialect().full_name(request["model"].as_str().unwrap_or("default"));
                self.emit(&records::model_changed(self.session(), &self.model));
                Ok(self.dialect().is_newer().then(|| json!({"model": self.model})))
            }
            "mcp_status" => Ok(Some(json!({"mcpServers": []}))),
            "set_max_thinking_tokens" => Ok(None),
            other => Err(format!("{UNSUPPORTED}{other}")),
        };
        self.emit(&records::answered(id, answer));
        Woke::Stirred
    }
}
