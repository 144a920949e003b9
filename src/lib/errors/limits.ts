// The reasons why an account may have no further call, or none to this number.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const limitErrors = {
  account_inactive: {
    cause: 'The account was switched off by the operator.',
    http: 403,
    sip: 503,
    cure: 'Set is_active on the account.',
  },
  account_call_limit: {
    cause: 'The account has as many calls up as its limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit voice_call_session of the account, or wait until a call ends.',
  },
  account_share: {
    cause:
      'The account uses the most that it may of a resource that all accounts share, since others could need the rest: calls, their RTP ports and the time of media workers that lag, audio that is fetched or decoded, texts that wait to be spoken, lists that the API reads, requests to hooks, the time to read what the account and its applications send, calls that begin while the node is full.',
    http: 503,
    sip: 503,
    cure: 'Wait until some of it has ended. The operator may raise SWITCHHOOK_ACCOUNT_SHARE, or give the account a limit voice_call_session, which then counts for its calls.',
  },
  outbound_stopped: {
    cause: 'The kill switch of the account, or of its service provider, is on: no call leaves the platform.',
    http: 403,
    sip: 403,
    cure: 'Find out what was stolen and change it. Then set kill_switch to off in the CallDefence that has it on.',
  },
  unreadable_number: {
    cause:
      'The called number has other characters than a plus before digits, and separators: a pause, a letter, `*` or `#`, a context (`phone-context`), more than 15 digits after the plus or 32 without. What a carrier would make of it cannot be known.',
    http: 400,
    sip: 484,
    cure: 'Write the number with a plus and digits. A code of the carrier belongs into its `tech_prefix`; keys that follow the answer are sent by the verb `dtmf`.',
  },
  destination_closed: {
    cause:
      'The called number is in a range that is often called in fraud, and that the account has not opened.',
    http: 403,
    sip: 403,
    cure: 'Open the class or the prefix in the CallDefence of the account, if the call is meant.',
  },
  call_rate_limit: {
    cause: 'The account has made as many outbound calls in a second or a minute as it may.',
    http: 429,
    sip: 503,
    cure: 'Call more slowly, or raise calls_per_second or calls_per_minute of the CallDefence of the account.',
  },
  outbound_call_limit: {
    cause: 'The account has as many outbound calls up as it may have.',
    http: 503,
    sip: 503,
    cure: 'Wait until a call ends, or raise concurrent_calls of the CallDefence of the account.',
  },
  call_minutes_limit: {
    cause: 'The outbound calls of the account have taken as many minutes today as they may.',
    http: 403,
    sip: 403,
    cure: 'Wait until midnight UTC, or raise minutes_per_day of the CallDefence of the account.',
  },
  service_provider_call_limit: {
    cause: 'The service provider has as many calls up as its limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit voice_call_session of the service provider, or wait until a call ends.',
  },
  device_limit: {
    cause: 'As many phones are registered as the limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit device of the account or service provider, or unregister a phone.',
  },
} as const satisfies Record<string, CatalogueEntry>
