// Every sentence of the interface spec that can be tested, in our own words, with the test that covers it; where the
// spec says "not shown", what we chose. The rows of the spec's tables become sentences by themselves.
// docs/reference/conformance.md is written from here, and sentences.test.ts fails for one without a test.
import { cases } from './spec/cases.ts'
import { neverAnswered, specEndpoints } from './spec/endpoints.ts'
import { requestFields } from './spec/request-fields.ts'
import { shapes } from './spec/shapes.ts'
import type { ShapeName } from './spec/shapes.ts'

export interface TestRef {
  readonly file: string
  /** As it stands in the file, placeholders included. */
  readonly title: string
}

export interface Sentence {
  readonly section: string
  readonly says: string
  readonly tests: readonly TestRef[]
  /** What we do where the spec does not say. */
  readonly chosen?: string
  /** Why there is nothing to test yet. */
  readonly open?: string
}

const test = (file: string, title: string): TestRef => ({ file, title })

const spec = 'test/conformance/spec.test.ts'
const rules = 'test/conformance/spec-rules.test.ts'
const matrix = 'test/conformance/authorization-matrix.test.ts'
const firstCall = 'test/journeys/first-call.test.ts'
const outboundCalls = 'test/journeys/outbound-calls.test.ts'
const reached = test(spec, 'answers %i as the spec says')
const refusesAll = test(
  matrix,
  'refuses every caller it must refuse, alike whether the record is foreign or missing, and writes nothing',
)
const asksHook = test(
  firstCall,
  'asks the call hook once, with every field of the interface and Basic credentials',
)

const endpointSentences: readonly Sentence[] = specEndpoints.flatMap(
  ({ section, endpoint, success, body, errors }) => [
    {
      section: `Endpoints: ${section}`,
      says: `\`${endpoint}\` answers ${success}${body === undefined ? ', empty' : ` with a body in the shape of the spec`}.`,
      tests: cases[endpoint]?.[success] === undefined ? [] : [reached],
    },
    ...errors.map((status): Sentence => {
      const says = `\`${endpoint}\` answers ${status} \`{msg}\`.`
      const never = neverAnswered[`${endpoint} ${status}`]
      const failure = test(
        spec,
        'answers 500 {msg} when the database is gone, and tells nothing of the inside',
      )
      if (never !== undefined)
        return { section: `Endpoints: ${section}`, says, tests: [], chosen: `Never answered. ${never}` }
      const isReached = status === 500 || cases[endpoint]?.[status] !== undefined
      return {
        section: `Endpoints: ${section}`,
        says,
        tests: isReached ? [status === 500 ? failure : reached] : [],
      }
    }),
  ],
)

const requestSentences: readonly Sentence[] = requestFields.map(
  ({ resource, endpoint, field, type, isRequired }) => ({
    section: `Fields: ${resource}`,
    says: `\`${endpoint}\`: \`${field}\` is a ${type}, ${isRequired ? 'required' : 'optional'}.`,
    tests: [
      test(
        'test/conformance/spec-fields.test.ts',
        isRequired ? 'is refused when it is left out, and named' : 'may be left out',
      ),
      test('test/conformance/spec-fields.test.ts', 'is refused when it is %s, and named'),
    ],
  }),
)

const answered: Readonly<Record<string, ShapeName>> = {
  SipGateway: 'sipGateways',
  'Recent call record': 'recentCalls',
  'Call (live call)': 'calls',
  'Call count': 'callCount',
  Client: 'clients',
  'Speech credential test result': 'speechTest',
  'Availability result': 'availability',
}

interface AnyShape {
  readonly properties?: Readonly<Record<string, AnyShape>>
  readonly required?: readonly string[]
  readonly items?: AnyShape
  readonly type?: string
  readonly enum?: readonly unknown[]
}

const answerSentences: readonly Sentence[] = Object.entries(answered).flatMap(([name, shape]) => {
  const root: AnyShape = shapes[shape]
  const record = root.items ?? root.properties?.['data']?.items ?? root
  return Object.entries(record.properties ?? {}).map(([field, { type, enum: words }]): Sentence => ({
    section: `Fields: ${name}`,
    says: `\`${field}\` is ${words === undefined ? `of type ${type}` : `one of ${words.map(String).join(', ')}`}${record.required?.includes(field) === true ? ', always there' : ''}.`,
    tests: [reached],
  }))
})

const hookFields: readonly string[] = [
  'call_sid',
  'call_id',
  'application_sid',
  'account_sid',
  'direction',
  'from',
  'to',
  'caller_name',
  'sip_status',
  'sip_reason',
  'call_status',
  'sbc_callid',
  'originating_sip_ip',
  'local_sip_address',
  'service_provider_sid',
  'env_vars',
  'sip.raw',
  'sip.headers',
  'sip.body',
  'sip.method',
  'sip.version',
  'sip.uri',
  'sip.payload',
]

const hookSentences: readonly Sentence[] = [
  ...hookFields.map((field) => ({
    section: 'Events: New call',
    says: `The call hook carries \`${field}\`.`,
    tests: [asksHook],
  })),
  {
    section: 'Events: New call',
    says: '`originating_sip_trunk_name` names the carrier that received the call.',
    tests: [
      test(
        'test/journeys/carrier-calls.test.ts',
        'names its carrier and its address in the call hook, and nobody else can',
      ),
    ],
  },
  {
    section: 'Events: New call',
    says: '`sip_reason_header` is the Reason header of RFC 3326, and left out when none was carried.',
    tests: [test('src/calls/journal/projection.test.ts', 'carry duration only with completed')],
  },
  {
    section: 'Events: New call',
    says: 'Posted as JSON when a call is created, with Basic authorization.',
    tests: [asksHook],
  },
  {
    section: 'Events: New call',
    says: 'The application answers 200 with a JSON array of verbs.',
    tests: [
      test(
        'src/webhooks/create-hooks.test.ts',
        'posts the payload as JSON and answers the verbs, the status and what it took',
      ),
    ],
  },
  {
    section: 'Events: sip_reason_header',
    says: 'Present on a final failure response.',
    tests: [test(outboundCalls, 'that is refused is reported with the Reason header of the final response')],
  },
  {
    section: 'Events: sip_reason_header',
    says: 'Present on a BYE of an answered call.',
    tests: [
      test(
        'test/journeys/faults.test.ts',
        'during speech ends the call at once, with the Reason header of the BYE',
      ),
    ],
  },
  {
    section: 'Events: sip_reason_header',
    says: 'Present on the CANCEL of a caller who gave up, whose 487 the platform makes.',
    tests: [
      test(
        'test/journeys/faults.test.ts',
        'before the answer is reported as no-answer with the Reason header of the CANCEL',
      ),
    ],
  },
  {
    section: 'Events: sip_reason_header',
    says: 'White space around ";" is normalised; several headers arrive separated by commas.',
    tests: [
      test('src/calls/sip-words.test.ts', 'whitespace around ;'),
      test('src/calls/sip-words.test.ts', 'several headers'),
    ],
  },
]

const written: readonly Sentence[] = [
  {
    section: 'Notation',
    says: 'Bodies are JSON.',
    tests: [test(rules, 'is application/json')],
  },
  {
    section: 'Notation',
    says: 'Times in call records are integers.',
    tests: [test('src/api/recent-calls.test.ts', 'answers the envelope in integers, newest first')],
  },
  {
    section: 'Fields: User',
    says: 'Without an account the user is one of the service provider; without both, an administrator.',
    tests: [
      test('src/api/logins/login.test.ts', 'answers an administrator and a provider user with their scopes'),
    ],
  },
  {
    section: 'Fields: User',
    says: 'A view-only user cannot make changes.',
    tests: [test('src/api/logins/login.test.ts', 'lets a view-only user read and log out, and nothing else')],
  },
  {
    section: 'Fields: MS Teams tenant',
    says: 'An update takes the full record.',
    tests: [
      test(
        'src/api/microsoft-teams-tenants.test.ts',
        'take the full record back, change what is sent and keep the rest',
      ),
    ],
  },
  {
    section: 'Fields: Account',
    says: 'An update takes the full record.',
    tests: [
      test(
        'src/api/accounts/account.test.ts',
        'takes the full record back from every level that may write it',
      ),
    ],
  },
  {
    section: 'Fields: Application',
    says: 'An update takes the full record.',
    tests: [test('src/api/applications.test.ts', 'takes the full record back')],
  },
  {
    section: 'Fields: Application',
    says: 'With `app_json` the call hook is not asked.',
    tests: [test('src/calls/create-calls.test.ts', 'takes app_json instead of asking the call hook')],
  },
  {
    section: 'Fields: Application',
    says: '`env_vars` are sent with the call hook.',
    tests: [asksHook],
  },
  {
    section: 'Fields: Client',
    says: 'A list shows the first character of a password and `x` for each other.',
    tests: [test('src/api/clients.test.ts', 'lists the caller’s own, with masked passwords')],
  },
  {
    section: 'Fields: Client',
    says: 'The four flags are 1 unless sent.',
    tests: [
      test(
        'src/api/clients.test.ts',
        'answers 201 {sid}; flags are 1 unless sent, and the password is masked',
      ),
    ],
  },
  {
    section: 'Fields: Client',
    says: 'An update takes the four flags only.',
    tests: [
      test(
        'src/api/clients.test.ts',
        'changes the flags that are sent, keeps the others, and ignores the rest',
      ),
    ],
  },
  {
    section: 'Fields: Availability result',
    says: '`available` is true when nobody has the value.',
    tests: [
      test(
        'src/api/availability.test.ts',
        'tells an address, a phone number and a realm that are taken, by whomever, from free ones',
      ),
    ],
  },
  {
    section: 'States',
    says: 'The call hook and status hooks report trying, in-progress and completed.',
    tests: [test(firstCall, 'reports trying, in-progress and completed to the status hook, in that order')],
  },
  {
    section: 'States',
    says: 'early-media is reported when media flows before the answer (183).',
    tests: [test('src/calls/create-calls.test.ts', 'offers early media with 183 and then answers with 200')],
  },
  {
    section: 'States',
    says: 'failed is reported when an attempt failed.',
    tests: [
      test(
        'src/calls/create-calls.test.ts',
        'by the end of the verbs of an unanswered call is 603 and failed',
      ),
    ],
  },
  {
    section: 'States',
    says: 'no-answer is reported when an attempt was not answered in time.',
    tests: [
      test(
        'src/calls/create-calls.test.ts',
        'by a CANCEL after trying reports no-answer with the Reason header of the CANCEL',
      ),
    ],
  },
  {
    section: 'States',
    says: 'busy and ringing are reported of the called party.',
    tests: [test(outboundCalls, 'that rings and is busy is reported as ringing and busy')],
  },
  {
    section: 'States',
    says: 'A live call may be in the nine states of its record.',
    tests: [test(rules, 'may be in the state %s')],
  },
  {
    section: 'States',
    says: 'The filter takes nine states; alerting is not among them.',
    tests: [
      test(rules, 'are filtered by the status %s'),
      test(rules, 'refuse alerting as a filter, which only records have'),
    ],
  },
  {
    section: 'Endpoints: Availability',
    says: '`type` is email, phone or subdomain; `type` and `value` are required.',
    tests: [test(rules, '/Availability answers for %s'), test(rules, '%s is refused')],
  },
  {
    section: 'Endpoints: Accounts',
    says: 'WebhookSecret answers the secret, and makes a new one with `regenerate`.',
    tests: [
      test('src/api/accounts/account.test.ts', 'answers the secret, and a new one only for regenerate=true'),
    ],
  },
  {
    section: 'Endpoints: Accounts',
    says: 'POST SipRealms adds or changes the realm, without a body.',
    tests: [
      test(
        'src/api/accounts/account.test.ts',
        'answers 204 without a body, and the realm is set in lower case',
      ),
    ],
  },
  {
    section: 'Endpoints: Accounts',
    says: 'POST SipRealms makes DNS entries.',
    tests: [test('src/dns/realm-records.test.ts', 'are A, SRV for UDP and TCP, and NAPTR')],
    chosen: 'Where a name server is set; without one the realm is checked and kept.',
  },
  {
    section: 'Endpoints: Accounts',
    says: 'POST Limits makes a limit or changes it.',
    tests: [
      test(
        'src/api/limits.test.ts',
        'are one record per category: a second POST answers the same sid and changes the quantity',
      ),
    ],
  },
  {
    section: 'Endpoints: Accounts',
    says: 'POST Limits needs the key of an administrator or a service provider.',
    tests: [test('src/api/limits.test.ts', 'are not for an account to change'), refusesAll],
  },
  {
    section: 'Endpoints: Registered SIP users',
    says: 'The list is of the users that are online.',
    tests: [test('src/api/registered-sip-users.test.ts', 'lists the addresses of the account’s realm')],
  },
  {
    section: 'Endpoints: Registered SIP users',
    says: 'POST takes an array of user names and answers a record for each.',
    tests: [test('src/api/registered-sip-users.test.ts', 'answers one record per name asked for, in order')],
  },
  {
    section: 'Endpoints: Applications',
    says: 'AppEnv answers the schema that an application publishes; `url` is required.',
    tests: [
      test(
        'src/api/app-env.test.ts',
        'answers 200 with the schema as it was published, to callers of every level',
      ),
      test(rules, '%s is refused'),
    ],
  },
  {
    section: 'Endpoints: Applications',
    says: 'AppEnv answers 400 when the schema is invalid.',
    tests: [test('src/api/app-env.test.ts', 'answers 400 with what is wrong with the schema')],
  },
  {
    section: 'Endpoints: Recent calls',
    says: '`page` and `count` are required.',
    tests: [test(rules, 'need page and count: %j is refused')],
  },
  {
    section: 'Endpoints: Recent calls',
    says: '`days`, `start`, `end`, `answered`, `direction` and `filter` are optional.',
    tests: [
      test(rules, 'take the parameter %s'),
      test('src/api/recent-calls.test.ts', 'filters by answer, direction, number, call and time'),
    ],
  },
  {
    section: 'Endpoints: Recent calls',
    says: '`total` counts what matches, `batch` what is on this page.',
    tests: [test('src/api/recent-calls.test.ts', 'answers the envelope in integers, newest first')],
  },
  {
    section: 'Endpoints: Live calls',
    says: '`direction`, `from`, `to` and `callStatus` filter the list.',
    tests: [test('src/api/calls/live-calls.test.ts', 'combines exact filters with AND')],
  },
  {
    section: 'Endpoints: Live calls',
    says: 'CallCount answers the calls by direction.',
    tests: [test('src/api/calls/live-calls.test.ts', 'counts by direction, 0 when there are none')],
  },
  {
    section: 'Endpoints: Speech credential test',
    says: 'The test needs the key of an administrator or a service provider.',
    tests: [refusesAll],
  },
  {
    section: 'Endpoints: Speech credential test',
    says: 'The result is success, fail with a reason, or not tested.',
    tests: [
      test(
        'src/api/speech-credentials/speech-credentials.test.ts',
        'really speaks and really listens, and remembers how it went',
      ),
      test(
        'src/api/speech-credentials/speech-credentials.test.ts',
        'says fail with the vendor’s reason, and not the secret in it',
      ),
      test(
        'src/api/speech-credentials/speech-credentials.test.ts',
        'says not tested for a use that is off, and for vendors it cannot try',
      ),
    ],
  },
  {
    section: 'Endpoints: SIP gateways',
    says: '`voip_carrier_sid` is required.',
    tests: [test(rules, '%s is refused')],
  },
  {
    section: 'Authentication',
    says: 'Every endpoint needs a bearer token.',
    tests: [refusesAll],
  },
  {
    section: 'Authentication',
    says: 'The call hook carries Basic authorization.',
    tests: [asksHook],
    chosen: 'A hook without a user name and password carries none: there is nothing to encode.',
  },
  {
    section: 'Authentication',
    says: 'An account has a secret that signs its webhooks.',
    tests: [test(firstCall, 'signs every hook with the secret of the account')],
  },
  {
    section: 'Errors',
    says: 'A missing resource answers 404 where the tables list one.',
    tests: [reached],
  },
  {
    section: 'Errors',
    says: 'A failure of the system answers 500 with `msg`.',
    tests: [test(spec, 'answers 500 {msg} when the database is gone, and tells nothing of the inside')],
  },
  {
    section: 'Errors',
    says: '204 has no content.',
    tests: [reached],
  },
  {
    section: 'Limits',
    says: 'An account has limits that are read and set.',
    tests: [
      test(
        'src/calls/leg/limits.test.ts',
        'of the account refuses the call beyond it: 503, reason, owner and limit; a record and an alert',
      ),
    ],
  },
  {
    section: 'Limits',
    says: 'CallCount tells the number of active calls.',
    tests: [test('src/api/calls/live-calls.test.ts', 'counts by direction, 0 when there are none')],
  },
  {
    section: 'Versioning',
    says: 'All paths sit under `/v1`; the interface is version 1.0.0.',
    tests: [
      test(rules, 'sit under /v1, and nowhere else'),
      test(rules, 'are described by a document of version 1.0.0'),
    ],
  },
]

const chosen: readonly Sentence[] = [
  {
    section: 'Not shown',
    says: 'The body of a creation that answers 201.',
    chosen: '`{sid}`.',
    tests: [reached],
  },
  {
    section: 'Not shown',
    says: 'The body of POST /Users and the fields of a user.',
    chosen: '`{user_sid}`; the record never has the hash of the password.',
    tests: [
      reached,
      test(
        'test/conformance/secrets.test.ts',
        'are masked in every answer that is not a form to be sent back',
      ),
    ],
  },
  {
    section: 'Not shown',
    says: 'The body of POST /ApiKeys and the fields of a key.',
    chosen: '`{sid, token, api_key_sid}`; the token is shown here only, lists show its first characters.',
    tests: [test('src/api/api-keys.test.ts', 'shows a prefix and never the key')],
  },
  {
    section: 'Not shown',
    says: 'The fields of a webhook record.',
    chosen: '`webhook_sid, url, method, username, password`.',
    tests: [
      test('src/api/webhooks.test.ts', 'makes a webhook of the caller and reads it back with its five keys'),
    ],
  },
  {
    section: 'Not shown',
    says: 'The fields and kinds of a limit.',
    chosen: '`account_limits_sid, account_sid, category, quantity`; one record per category, 0 is no limit.',
    tests: [
      test(
        'src/api/limits.test.ts',
        'are one record per category: a second POST answers the same sid and changes the quantity',
      ),
    ],
  },
  {
    section: 'Not shown',
    says: 'The fields of a registration record.',
    chosen:
      '`name, contact, expiryTime, protocol, registered_status`, and with one user the flags of its client.',
    tests: [
      test('src/api/registered-sip-users.test.ts', 'answers one user with the permissions of its client'),
    ],
  },
  {
    section: 'Not shown',
    says: 'The body of the webhook secret.',
    chosen: '`{webhook_secret}`.',
    tests: [reached],
  },
  {
    section: 'Not shown',
    says: 'The format of `start` and `end`, the meaning of `days`.',
    chosen:
      'ISO 8601 or epoch milliseconds, both inclusive; the last N times 24 hours, which wins over both.',
    tests: [test('src/api/recent-calls.test.ts', 'filters by answer, direction, number, call and time')],
  },
  {
    section: 'Not shown',
    says: 'The greatest `count`.',
    chosen: '500.',
    tests: [test(rules, 'take at most 500 on a page')],
  },
  {
    section: 'Not shown',
    says: 'How a token is issued at login.',
    chosen: '`POST /login` with a user name and a password; the token is a JWT for 60 minutes.',
    tests: [
      test(
        'src/api/logins/login.test.ts',
        'answers the token of an account user with everything a client reads from it',
      ),
    ],
  },
  {
    section: 'Not shown',
    says: 'How webhook payloads are signed.',
    chosen: 'HMAC-SHA256 over time and body, in the header existing clients read and as Standard Webhooks.',
    tests: [
      test(
        'src/webhooks/signing.test.ts',
        'signs timestamp and body for existing clients, with the secret as it is stored',
      ),
      test('src/webhooks/signing.test.ts', 'signs as the published vector of Standard Webhooks says'),
    ],
  },
  {
    section: 'Not shown',
    says: 'The general error object.',
    chosen: '`{msg, code, request_id, cure}`; codes are in errors.md.',
    tests: [
      test(
        'src/http/create-http.test.ts',
        'answers {msg, code, request_id, cure} and keeps the detail in the log',
      ),
    ],
  },
  {
    section: 'Not shown',
    says: 'Time-outs and retries of webhooks.',
    chosen: 'Asking has a budget and retries that the URL asks for; notifications are kept and tried again.',
    tests: [
      test(
        'src/webhooks/create-hooks.test.ts',
        'are made as often as the fragment says, with the same message id',
      ),
      test(
        'test/journeys/notifications.test.ts',
        'of a hundred calls arrive once each, in order per call, signed',
      ),
    ],
  },
  {
    section: 'Not shown',
    says: 'The `name` parameter of GET /Applications.',
    chosen: 'Finds by a part of the name, in any case.',
    tests: [test('src/api/applications.test.ts', 'finds by a part of the name in any case')],
  },
  {
    section: 'Not shown',
    says: 'Whether the attributes of the release history are in the REST interface.',
    chosen:
      'They are: protocol, pad_crypto, send_options_ping, use_sips_scheme, dtmf_type and the client flags.',
    tests: [
      test(rules, 'are on gateways and carriers with their defaults'),
      test(rules, 'a gateway takes the protocol %s'),
      test(rules, 'a carrier takes the dtmf_type %s'),
    ],
  },
  {
    section: 'Not shown',
    says: 'The REST shape of LCR routes and carrier entries.',
    chosen: 'LcrRoutes and LcrCarrierSetEntries, and all of a table at once at /Lcrs/{LcrSid}/Routes.',
    tests: [
      test(
        'test/conformance/fuzz.test.ts',
        'takes the body that the declaration describes, with every field in it',
      ),
    ],
  },
]

export const sentences: readonly Sentence[] = [
  ...written.filter(({ section }) => section === 'Notation'),
  ...requestSentences,
  ...answerSentences,
  ...written.filter(({ section }) => section !== 'Notation'),
  ...endpointSentences,
  ...hookSentences,
  ...chosen,
]
