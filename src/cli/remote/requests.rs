//! What a screen that shows a run of another machine may ask: what the person says to the run. All else is done there.

use crate::domain::request::{Reply, Request};
use crate::runtime::mirror::Wanted;
use tokio::sync::mpsc::{Sender, UnboundedSender};

/// The way to a run of another machine.
pub struct Requests {
    /// What the person calls the machine.
    pub name: String,
    pub wanted: Sender<Wanted>,
}

impl Requests {
    /// Hands on what is asked, where that can be done from here. Gives back what cannot.
    pub fn ask(&self, request: Request, reply: &UnboundedSender<Reply>) -> Result<(), Box<Request>> {
        match request {
            Request::Command(ticket, command) => {
                let wanted = Wanted { ticket, command, reply: reply.clone() };
                self.wanted.try_send(wanted).map_err(|full| {
                    let Wanted { ticket, command, .. } = full.into_inner();
                    Box::new(Request::Command(ticket, command))
                })
            }
            // It is told without being asked for.
            Request::Show(_) => Ok(()),
            // The screen asks for them by itself.
            Request::Changes(run, since) => {
                let why = format!("they are on {}: open them there", self.name);
                let _ = reply.send(Reply::Changes(run, since, Err(why)));
                Ok(())
            }
            other => Err(Box::new(other)),
        }
    }

    /// Why something of this machine cannot be done to what is on the other.
    pub fn not_here(&self) -> String {
        format!("not available here: do it on {}", self.name)
    }
}
