//! The list of what is to be done in a session: one file of the world per entry. In a team the leader assigns entries,
//! and teammates claim them (SWARM-10..12).

use std::rc::Rc;

use serde_json::{Value, json};

use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::agent::settings::Settings;
use crate::agent::world::World;
use crate::outside::words;

words! {
    /// How far an entry is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        /// It is not begun.
        Pending = "pending",
        /// Its owner works on it.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
    }
}

/// Why an entry cannot be taken or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// There is none with this number.
    #[error("there is no task {0} on the list")]
    Unknown(Rc<str>),
    /// Another agent has it.
    #[error("task {entry} belongs to {owner}")]
    Owned {
        /// The entry.
        entry: Rc<str>,
        /// Its owner.
        owner: Rc<str>,
    },
    /// It is no longer pending.
    #[error("task {entry} is {status} already")]
    Begun {
        /// The entry.
        entry: Rc<str>,
        /// Its status.
        status: &'static str,
    },
}

impl NotTaken {
    const fn why(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown",
            Self::Owned { .. } => "owned",
            Self::Begun { .. } => "begun",
        }
    }
}

/// The list of a session.
pub struct TaskList {
    ground: Rc<Ground>,
    world: Rc<World>,
    folder: String,
}

/// An entry as it stands.
struct Entry {
    id: Rc<str>,
    fields: Value,
}

impl TaskList {
    pub(super) fn new(ground: Rc<Ground>, settings: &Settings, world: Rc<World>) -> Self {
        Self { ground, world, folder: format!("{}/.claude/tasks/{}", settings.home, settings.session) }
    }

    /// Adds an entry; returns its number.
    pub fn add(&self, subject: &str, description: &str) -> usize {
        let number = self.world.files.below(&self.folder).len() + 1;
        let entry =
            json!({ "id": number.to_string(), "subject": subject, "description": description, "status": "pending" });
        self.world.files.write(&self.path(&number.to_string()), entry.to_string());
        number
    }

    /// Adds these entries, for a team (`createTaskList`, SWARM-11); returns their numbers.
    pub fn create<'a>(&self, by: &Rc<str>, subjects: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
        let add = |subject| {
            let number = self.add(subject, subject);
            self.tell(by, "created", &number.to_string().into(), None, Status::Pending);
            number
        };
        subjects.into_iter().map(add).collect()
    }

    /// Gives an entry that is not begun to `owner` (`assignTask`, SWARM-11).
    ///
    /// # Errors
    /// If there is none, or it is begun.
    pub fn assign(&self, by: &Rc<str>, id: &str, owner: &Rc<str>) -> Result<(), NotTaken> {
        let entry = self.pending(by, id)?;
        self.put(by, "assigned", entry, Some(owner), Status::Pending);
        Ok(())
    }

    /// `by` takes an entry that is not begun and that no other agent has (`claimTask`, SWARM-10, SWARM-12).
    ///
    /// # Errors
    /// If there is none, it is begun, or it is another agent's.
    pub fn claim(&self, by: &Rc<str>, id: &str) -> Result<(), NotTaken> {
        let entry = self.pending(by, id)?;
        if let Some(owner) = entry.owner().filter(|owner| owner != by) {
            return Err(self.refuse(by, NotTaken::Owned { entry: id.into(), owner }));
        }
        self.put(by, "claimed", entry, Some(by), Status::InProgress);
        Ok(())
    }

    /// Sets the status of an entry that `by` has; the leader may set any (`updateTask`, SWARM-10). A pending entry is
    /// free again.
    ///
    /// # Errors
    /// If there is none, or it is another agent's.
    pub fn update(&self, by: &Rc<str>, id: &str, status: Status) -> Result<(), NotTaken> {
        let entry = self.read(by, id)?;
        let owner = entry.owner();
        if **by != *super::LEADER && owner.as_ref() != Some(by) {
            let owner = owner.unwrap_or_else(|| "no agent".into());
            return Err(self.refuse(by, NotTaken::Owned { entry: id.into(), owner }));
        }
        let owner = owner.filter(|_| status != Status::Pending);
        self.put(by, "updated", entry, owner.as_ref(), status);
        Ok(())
    }

    fn path(&self, id: &str) -> String {
        format!("{}/{id}.json", self.folder)
    }

    fn read(&self, by: &Rc<str>, id: &str) -> Result<Entry, NotTaken> {
        let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
        let text = self.world.files.read(&self.path(id)).filter(|_| is_number);
        let fields = text.and_then(|text| serde_json::from_str(&text).ok());
        fields
            .map(|fields| Entry { id: id.into(), fields })
            .ok_or_else(|| self.refuse(by, NotTaken::Unknown(id.into())))
    }

    /// The entry, if it is not begun.
    fn pending(&self, by: &Rc<str>, id: &str) -> Result<Entry, NotTaken> {
        let entry = self.read(by, id)?;
        match entry.status() {
            Status::Pending => Ok(entry),
            status => Err(self.refuse(by, NotTaken::Begun { entry: entry.id, status: status.name() })),
        }
    }

    fn put(&self, by: &Rc<str>, does: &'static str, mut entry: Entry, owner: Option<&Rc<str>>, status: Status) {
        entry.fields["status"] = status.name().into();
        entry.fields["owner"] = owner.map(|owner| owner.to_string()).into();
        self.world.files.write(&self.path(&entry.id), entry.fields.to_string());
        self.tell(by, does, &entry.id, owner, status);
    }

    fn tell(&self, by: &Rc<str>, does: &'static str, entry: &Rc<str>, owner: Option<&Rc<str>>, status: Status) {
        let (entry, by, owner) = (entry.clone(), by.clone(), owner.cloned());
        self.ground.emit(&Event::ListEntry { entry, by, does, owner, status: status.name() });
    }

    fn refuse(&self, by: &Rc<str>, not_taken: NotTaken) -> NotTaken {
        self.ground.emit(&Event::ListRefused { by: by.clone(), why: not_taken.why() });
        not_taken
    }
}

impl Entry {
    fn owner(&self) -> Option<Rc<str>> {
        self.fields["owner"].as_str().map(Rc::from)
    }

    fn status(&self) -> Status {
        self.fields["status"].as_str().and_then(Status::named).unwrap_or(Status::Pending)
    }
}
