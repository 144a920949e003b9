// The rules of the fraud defence, which keeps thieves from calling at the expense of an account.
import type { RuleGroup } from './rule-group.ts'

export const defence = {
  title: 'Fraud defence',
  question:
    'May the account make one more call that leaves the platform, to a phone number or a SIP URI? Every such call of users, applications and clients of the API is checked before its first INVITE. The number is checked again in the form in which each INVITE sends it to a carrier. Calls to numbers of up to three digits, such as emergency numbers, are exempt from all these rules, up to five a minute for each account and node; further ones are treated like any other call. [destinations.md](destinations.md) lists the destinations that are closed by default.',
  rules: {
    'defence-stopped': {
      sentence: 'The kill switch of the account, or of its service provider, is on.',
      decides:
        'The call is refused with `outbound_stopped`. With `all_calls`, calls that are up are hung up as well.',
    },
    'defence-number': {
      sentence:
        'The number called is not a plus and digits, or digits alone. Separators (`-`, `.`, `(`, `)`, spaces) and invisible format characters are removed first. At the address of a carrier this is also true of the user of a SIP URI, which may have no separators, unless it begins with a letter and has at most six digits, of a URI with a password, and of one with other parameters than `transport`, `user` and `lr`.',
      decides: 'The call is refused with `unreadable_number`.',
    },
    'defence-destination': {
      sentence:
        'The number called, or the number that a carrier or a redirect turns it into, is in a closed class or prefix.',
      decides:
        'The call is refused with `destination_closed`. If only the number for one carrier is closed, the next carrier is tried.',
    },
    'defence-concurrent-calls': {
      sentence: 'As many outbound calls of the account are up as `concurrent_calls` allows.',
      decides: 'The call is refused with `outbound_call_limit`.',
    },
    'defence-minutes': {
      sentence: 'The outbound calls of the account have taken the minutes of `minutes_per_day`.',
      decides: 'The call is refused with `call_minutes_limit`. Those that are up go on.',
    },
    'defence-call-rate': {
      sentence:
        'The account has made as many outbound calls as `calls_per_second` or `calls_per_minute` allows.',
      decides: 'The call is refused with `call_rate_limit`.',
    },
  },
} as const satisfies RuleGroup
