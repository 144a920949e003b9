// The rules that decide calls, as docs/reference/routing.md lists them and as the journal of a call names them. In a
// group that chooses, the rules are tried in the order given here, and the first that applies decides.
import type { RuleGroup } from './rule-group.ts'
import { defence } from './defence-rules.ts'
import { siprecCall } from './siprec-rules.ts'
import { teamsCall } from './teams-rules.ts'
import { userCall } from './user-rules.ts'

const caller = {
  title: 'The caller',
  question:
    'Who is calling? These rules apply first, to every incoming INVITE. A caller that is identified neither as a carrier nor as a user is refused.',
  rules: {
    'caller-teams': {
      sentence:
        'The call comes over TLS from an address of Microsoft Teams, and names a Microsoft Teams tenant.',
      decides: 'That tenant calls, for its account.',
    },
    'caller-own-carrier': {
      sentence:
        'The call names the SIP realm of an account and comes from an address of one of its carriers.',
      decides: 'A carrier calls, for this account.',
    },
    'caller-registered-carrier': {
      sentence:
        'The call is for the user that the platform is registered as with a carrier, and comes from an address of that carrier.',
      decides: 'That carrier calls.',
    },
    'caller-registered-carrier-ambiguous': {
      sentence:
        'Several carriers at the address of the caller register the platform as the user that is called.',
      decides: 'The call is refused with `ambiguous_carrier`.',
    },
    'caller-carrier-address': {
      sentence: 'The call comes from an address of a carrier.',
      decides:
        'One of the carriers that have this address calls. A call that names a realm is treated as that of a user, if the account of the realm has no carrier at this address.',
    },
    'caller-realm': {
      sentence: 'The SIP realm that the caller names is that of this account.',
      decides: 'The account. Its user must prove who it is.',
    },
    'caller-digest': {
      sentence: 'The caller has proved its password.',
      decides: 'This user calls, or the carrier that has this password.',
    },
    'caller-registration-hook': {
      sentence: 'The registration hook has accepted the credentials of the caller.',
      decides: 'This user calls.',
    },
    'caller-digest-uri': {
      sentence: 'The caller computed its digest for another URI than the one it calls.',
      decides: 'Nothing: the digest is right, and old phones do so.',
    },
  },
} as const satisfies RuleGroup

const carrierCall = {
  title: 'Calls from carriers',
  question:
    'Which account does a call from a carrier go to, and which application takes it? Carriers that name a single address come before those that name a network, and numbers without their `+`.',
  rules: {
    'carrier-number': {
      sentence: 'The number called is a phone number of the carrier.',
      decides: 'The account of the phone number, or else that of the carrier.',
    },
    'carrier-number-ambiguous': {
      sentence: 'Several carriers at the address of the caller have the number called.',
      decides: 'The call is refused with `ambiguous_carrier`.',
    },
    'carrier-pattern': {
      sentence:
        'The number called matches a pattern among the phone numbers of the carrier; the longest match counts.',
      decides: 'The account of the phone number, or else that of the carrier.',
    },
    'carrier-pattern-ambiguous': {
      sentence: 'Patterns of several accounts match the number called, and are equally long.',
      decides: 'The call is refused with `ambiguous_carrier`.',
    },
    'carrier-pattern-too-costly': {
      sentence:
        'No pattern matches among those that were tried, and others would take more than the 60,000 steps that one call may cause. Each character of the number takes as many steps as the program of a pattern has instructions. Accounts that share a carrier share the steps.',
      decides: 'The call is refused with `patterns_too_costly`.',
    },
    'carrier-named-account': {
      sentence: 'The number called is not a phone number here, and the call itself names the account.',
      decides: 'That account, and its first carrier at this address that has an application.',
    },
    'carrier-only-application': {
      sentence:
        'The number called is not a phone number here, and only one of the carriers at this address that belong to an account has an application.',
      decides: 'The account of that carrier.',
    },
    'carrier-application-ambiguous': {
      sentence:
        'The number called is not a phone number here, and several carriers at this address have an application.',
      decides: 'The call is refused with `ambiguous_carrier`.',
    },
    'carrier-only-account': {
      sentence:
        'The number called is not a phone number here, and the service provider of the carrier has only one account.',
      decides: 'That account.',
    },
    'carrier-number-unknown': {
      sentence:
        'The number called is not a phone number here, and nothing else assigns the call to an account, or the carrier of that account has no application.',
      decides: 'The call is refused with `number_not_provisioned`.',
    },
    'carrier-number-application': {
      sentence: 'The phone number names an application.',
      decides: 'That application takes the call.',
    },
    'carrier-application': {
      sentence: 'The phone number, if there is one, names no application, and the carrier does.',
      decides: 'The application of the carrier takes the call.',
    },
    'carrier-no-application': {
      sentence: 'The called number is a phone number, and neither it nor the carrier names an application.',
      decides: 'The call is refused with `no_application`.',
    },
  },
} as const satisfies RuleGroup

const phoneCall = {
  title: 'Calls to phone numbers',
  question:
    'Which carriers take a call that the platform makes to a phone number? Their gateways are tried one after another: that over which the platform is registered first, those at private addresses last.',
  rules: {
    'phone-named-carrier': {
      sentence: 'The request names one of the carriers that the account may use.',
      decides: 'That carrier.',
    },
    'phone-caller-carrier': {
      sentence:
        'There is no table of least cost routing, and the calling number is a phone number of a carrier.',
      decides: 'That carrier.',
    },
    'phone-route': {
      sentence: 'A route of the table of least cost routing matches the number called.',
      decides:
        'The carriers of the route: a lower priority first, and among those of one priority in proportion to their workload.',
    },
    'phone-default-route': {
      sentence:
        'No route of the table of least cost routing matches the number called, and the table has a default.',
      decides: 'The carrier of the default.',
    },
    'phone-account-carrier': {
      sentence: 'Nothing else chooses a carrier, and the account has some of its own.',
      decides: 'Any one of them, drawn for each call.',
    },
    'phone-provider-carrier': {
      sentence: 'Nothing else chooses a carrier, and the account has none of its own.',
      decides: 'Any one of those that its service provider shares, drawn for each call.',
    },
    'phone-gateway-down': {
      sentence:
        'Some gateways of the carriers do not answer OPTIONS, were silent to a call within 30 seconds, or have asked for a rest with Retry-After, and others are well.',
      decides: 'They get no calls. Carriers without another gateway are passed over.',
    },
    'phone-no-carrier': {
      sentence: 'The account has no carrier that takes calls.',
      decides: 'The call fails with `no_carrier`.',
    },
  },
} as const satisfies RuleGroup

const limits = {
  title: 'Limits',
  question:
    'Is there room for one more call? Calls that began earlier count, those of the same direction for a limit.',
  rules: {
    'limit-account': {
      sentence: 'The account has a limit `voice_call_session`.',
      decides: 'A call beyond it is refused with `account_call_limit`.',
    },
    'limit-service-provider': {
      sentence: 'The service provider of the account has a limit `voice_call_session`.',
      decides: 'A call beyond it is refused with `service_provider_call_limit`.',
    },
    'limit-share': {
      sentence:
        'The account has no limit of its own, and has used up its share of the calls that the platform carries. The share shrinks as the platform fills.',
      decides: 'The call is refused with `account_share`.',
    },
  },
} as const satisfies RuleGroup

const course = {
  title: 'During the call',
  question: 'What the platform decides about a call that is under way.',
  rules: {
    'app-json': {
      sentence: 'The application has `app_json`.',
      decides: 'Its verbs run, and the call hook is not asked.',
    },
    ringing: {
      sentence: 'The application has not answered in the time after which callers hear ringing.',
      decides: 'The caller is sent 180.',
    },
    registrar: {
      sentence: 'The call is for a user of the account.',
      decides:
        'All phones that the user has registered ring. Without any, the call fails with `user_not_registered`.',
    },
    branch: {
      sentence: 'One of several places that ring together has refused or cannot be reached.',
      decides:
        'The other places of the same target go on ringing, unless the refusal is final (6xx); other targets of a dial in any case.',
    },
    redirect: {
      sentence: 'A place has answered that the called party is somewhere else (300, 301 or 302).',
      decides:
        'The places that it names are tried, the best first and five at most: for a user, users of its realm; for a SIP URI and a carrier, addresses that customers may call; for a carrier its gateways too.',
    },
    failover: {
      sentence: 'A place has refused the call or cannot be reached, and there is another one to try.',
      decides:
        'The next place is tried after a redirect that is not followed, 408, 480, 500 to 599 without 501 and 505, a network that fails, or two seconds without any response, unless the caller has heard the far end already. Any other refusal ends the call.',
    },
    api: {
      sentence: 'A client of the REST API has asked for it.',
      decides: 'What the client has asked for.',
    },
    application: {
      sentence: 'The application has asked for it over its WebSocket.',
      decides: 'What the application has asked for.',
    },
    'time-limit': {
      sentence:
        'The call has reached a limit in time: of ringing, of its duration, of silence or of being held.',
      decides: 'The platform hangs up.',
    },
    transfer: {
      sentence: 'The far end of one side has asked that the other side be sent elsewhere (REFER).',
      decides: 'The two part, and the other side goes where the REFER or the `referHook` says.',
    },
    'transfer-attended': {
      sentence: 'The far end of two calls has asked that their other sides be joined (REFER with Replaces).',
      decides: 'The two talk with each other, and both legs of the far end that asked for it end.',
    },
    replaces: {
      sentence: 'A user has called with `Replaces`, which names another call of the account.',
      decides: 'Its phone takes the place of the one in that call, or answers the call that rings there.',
    },
    'dialog-lost': {
      sentence: 'The far end no longer responds in signalling.',
      decides: 'The platform hangs up.',
    },
    recovery: {
      sentence: 'The process that carried the call is gone.',
      decides:
        'The call ends at the last sign of life of that process: one every 3 s while it has calls. What was recorded after it is in the recording.',
    },
  },
} as const satisfies RuleGroup

export const ruleGroups = [
  caller,
  carrierCall,
  siprecCall,
  teamsCall,
  userCall,
  phoneCall,
  limits,
  defence,
  course,
] as const

export const rules = {
  ...caller.rules,
  ...carrierCall.rules,
  ...siprecCall.rules,
  ...teamsCall.rules,
  ...userCall.rules,
  ...phoneCall.rules,
  ...limits.rules,
  ...defence.rules,
  ...course.rules,
}

export type RuleName = keyof typeof rules
