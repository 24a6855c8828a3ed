//! Hours of a day in which nothing makes a sound.

/// From the first minute of a day to the one before the second; over midnight where the first is later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    from: u16,
    to: u16,
}

impl QuietHours {
    /// `22:00-07:00`; `None`: it is not of this form, or has no minute in it.
    pub fn read(text: &str) -> Option<Self> {
        let minute = |time: &str| {
            let (hours, minutes) = time.trim().split_once(':')?;
            let is_number =
                |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            let (hour, minute) = (hours.parse::<u16>().ok()?, minutes.parse::<u16>().ok()?);
            (is_number(hours) && minutes.len() == 2 && hour < 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute(from)?, minute(to)?);
        (from != to).then_some(Self { from, to })
    }

    /// This minute of the day, from 0 to 1,439, is one of them.
    pub fn has(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_go_over_midnight_and_end_before_their_last_minute() {
        let has = |text: &str, minute| QuietHours::read(text).map(|hours| hours.has(minute));
        for (minute, quiet) in [(21 * 60 + 59, false), (22 * 60, true), (0, true), (7 * 60 - 1, true), (7 * 60, false)]
        {
            assert_eq!(has("22:00-07:00", minute), Some(quiet), "{minute}");
        }
        assert_eq!((has("9:30 - 12:00", 600), has("9:30 - 12:00", 720)), (Some(true), Some(false)));
        for wrong in ["22-07", "22:00", "24:00-07:00", "22:0-07:00", "7:00-07:00", "22:60-07:00", "+2:00-07:00", ""] {
            assert_eq!(QuietHours::read(wrong), None, "{wrong}");
        }
    }
}
