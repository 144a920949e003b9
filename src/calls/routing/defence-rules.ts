// The rules that keep thieves from calling at the expense of an account.
import type { RuleGroup } from './rule-group.ts'

export const defence = {
  title: 'Fraud defence',
  question:
    'May the account make one more call that leaves the platform, to a phone number or a SIP URI? Asked of every such call, of users, applications and clients of the API alike, before its first INVITE; of the number once more as it stands in each INVITE to a carrier. Of calls to numbers of up to three digits, as emergency numbers are, the first five a minute of an account pass all of it, on each node; those after them are calls as any other. [destinations.md](destinations.md) lists what is closed at first.',
  rules: {
    'defence-stopped': {
      sentence: 'The kill switch of the account, or of its service provider, is on.',
      decides:
        'The call is refused with `outbound_stopped`. With `all_calls`, calls that are up are hung up as well.',
    },
    'defence-destination': {
      sentence:
        'The number called, or what a carrier or a redirect makes of it, is in a class or a prefix that is closed, or has characters that cannot be seen.',
      decides:
        'The call is refused with `destination_closed`. Where only one carrier would be sent such a number, the next one is tried.',
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
