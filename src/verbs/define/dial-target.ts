// The targets of a dial: the form that applications write, and its conversion for the engine.
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'
import type { DialTarget, Target } from '../../calls/verb.ts'
import { AppError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import { hookFor, optional, untilServed } from './schemas.ts'

const auth = Type.Optional(
  Type.Object(
    {
      username: Type.String({ description: 'Sent in the clear.' }),
      password: Type.String({ description: 'Never sent: it goes into the digest.' }),
    },
    { description: 'For the digest challenge of a phone or sip target.' },
  ),
)

// These values end up in SIP messages: no white space, control characters, brackets or quotes.
const sipPattern = '^[^\\s\\u0000-\\u001f\\u007f-\\u009f<>"]*$'
const sipRule = 'must not contain white space, control characters, brackets or quotes'
const hostPattern = '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$'
// Routes match numbers of at most this length (api/lcrs/dial-pattern.ts).
const maxNumberLength = 132

export function word(description: string, maxLength = 255) {
  return Type.Optional(Type.String({ maxLength, pattern: sipPattern, 'x-rule': sipRule, description }))
}

export const target = Type.Object({
  type: Type.Union(
    [Type.Literal('phone'), Type.Literal('user'), Type.Literal('sip'), Type.Literal('teams')],
    {
      description:
        '`phone`: a number, by carriers; `user`: the registered phones of a client of the account; `sip`: any SIP URI; `teams`: a user of a Microsoft Teams tenant of the account.',
    },
  ),
  number: Type.Optional(
    Type.String({
      maxLength: maxNumberLength,
      ...printable,
      description:
        'Required for a phone or teams target: its number. A phone is called by a plus and digits, or by digits alone: separators (`-`, `.`, `(`, `)`, spaces) are removed, and with any other number the target fails with `unreadable_number`.',
    }),
  ),
  name: word(
    'Required for a user target: the username, or username@realm with the SIP realm of the account.',
  ),
  sipUri: word('Required for a sip target: its URI.', 1024),
  trunk: optional.text('The carrier of a phone target, by its name.'),
  proxy: word('A SIP URI: where a sip target is sent first.'),
  tenant: word('The `tenant_fqdn` of a teams target, where the account has several tenants.'),
  vmail: Type.Optional(Type.Boolean({ description: 'The voice mail of a teams target is called.' })),
  auth,
  headers: optional.headers('SIP headers of the INVITE to this target.'),
  from: Type.Optional(
    Type.Object(
      {
        user: word('User part.'),
        host: Type.Optional(
          Type.String({
            maxLength: 255,
            pattern: hostPattern,
            'x-rule': 'must be an IPv4 address or a host name',
            description: 'Host part.',
          }),
        ),
      },
      { description: 'The From header of the INVITE to this target.' },
    ),
  ),
  confirmHook: Type.Optional(hookFor('In place of the `confirmHook` of the dial, for this target.')),
  overrideTo: optional.text(untilServed('another To', 'The To header of a user target.')),
  method: optional.text('Accepted, and of no effect: hooks are sent by POST, or by the method of the hook.'),
})

type GivenTarget = Static<typeof target>

/** The options of the dial for its sip targets. */
interface SipOptions {
  readonly proxy?: string
  readonly srtpEncryption?: 'sdes' | 'dtls'
}

/** Converts a target. `options.proxy` is that of the dial. Throws hook_invalid_payload or not_served. */
export async function toTarget(
  given: GivenTarget,
  options: SipOptions,
  realm: () => Promise<string | undefined>,
): Promise<DialTarget> {
  const { headers = {}, from, confirmHook } = given
  return {
    to: await toPlace(given, options, realm),
    headers,
    fromUser: from?.user,
    fromHost: from?.host,
    confirmHook,
  }
}

async function toPlace(
  { type, number, name, sipUri, trunk, proxy, tenant, vmail, auth: credentials }: GivenTarget,
  options: SipOptions,
  realmOf: () => Promise<string | undefined>,
): Promise<Target> {
  const proof = credentials === undefined ? {} : { auth: credentials }
  switch (type) {
    case 'phone':
      return { type, number: given(number, 'number'), ...(trunk === undefined ? {} : { trunk }), ...proof }
    case 'user': {
      const realm = await realmOf()
      const text = given(name, 'name')
      const at = text.lastIndexOf('@')
      // Host names are compared in any case: RFC 3261 §19.1.4.
      if (realm === undefined || (at !== -1 && text.slice(at + 1).toLowerCase() !== realm))
        throw invalid(`a user target must be of the SIP realm of the account, which is ${realm ?? 'not set'}`)
      return { type, name: at === -1 ? text : text.slice(0, at), realm }
    }
    case 'sip': {
      const first = proxy ?? options.proxy
      const { srtpEncryption } = options
      return {
        type,
        sipUri: given(sipUri, 'sipUri'),
        ...(first === undefined ? {} : { proxy: first }),
        ...(srtpEncryption === undefined ? {} : { srtpEncryption }),
        ...proof,
      }
    }
    case 'teams': {
      const mail = vmail === true ? { isVoiceMail: true } : {}
      return { type, number: given(number, 'number'), ...(tenant === undefined ? {} : { tenant }), ...mail }
    }
    default:
      return type satisfies never
  }
}

function given(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw invalid(`the target has no "${name}"`)
  return value
}

function invalid(sentence: string): AppError {
  return new AppError('hook_invalid_payload', `dial: ${sentence}`)
}
