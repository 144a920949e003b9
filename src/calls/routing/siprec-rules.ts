// The rules for recording sessions (SIPREC, RFC 7866) that come from carriers.
import type { RuleGroup } from './rule-group.ts'

export const siprecCall = {
  title: 'Recording sessions',
  question:
    'A carrier sends the streams of a call elsewhere, to be recorded or heard here (SIPREC). Which account does the session belong to, and which application takes it? A called phone number decides as for other calls from carriers; after that these rules do.',
  rules: {
    'siprec-account': {
      sentence:
        'The number called is not a phone number here, and the carriers at the address of the recording client belong to one account.',
      decides: 'That account.',
    },
    'siprec-application': {
      sentence: 'The account names an application for recording sessions.',
      decides: 'That application takes the session. Applications of numbers and carriers do not count.',
    },
    'siprec-no-application': {
      sentence: 'The account names no application for recording sessions.',
      decides: 'The session is refused with `no_siprec_application`.',
    },
  },
} as const satisfies RuleGroup
