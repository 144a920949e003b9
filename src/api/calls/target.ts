// The target of a call, as clients write it, and as the call engine gets it.
import { parseProxyUri, parseTargetUri, type CallRequest, type Target } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import { notServed } from '../../lib/not-served.ts'
import { printable } from '../../lib/printable.ts'
import { createField, type Field } from '../define/field.ts'
import { text } from '../define/fields.ts'
import { host, sipWord } from '../define/sip-fields.ts'
import { headersSchema, toSipHeaders } from './sip-headers.ts'

export interface TargetInput {
  readonly type: 'phone' | 'user' | 'sip' | 'teams'
  readonly number?: string
  readonly name?: string
  readonly sipUri?: string
  readonly trunk?: string
  readonly auth?: { readonly username: string; readonly password: string }
  readonly from?: { readonly user?: string; readonly host?: string }
  readonly headers?: Readonly<Record<string, string | number>>
  readonly proxy?: string
  readonly overrideTo?: string
  readonly tenant?: string
  readonly vmail?: boolean
}

// Routes are matched with numbers of this length at most: see lcrs/dial-pattern.ts.
const maxNumberLength = 132
// The call engine refuses what is no number, with a reason of its own.
const numberText = { pattern: printable.pattern, rule: printable['x-rule'] }
const credential = text({ min: 1, max: 255 }).facts.schema

export function target(): Field<TargetInput> {
  return createField({
    schema: {
      type: 'object',
      required: ['type'],
      properties: {
        type: {
          type: 'string',
          enum: ['phone', 'user', 'sip', 'teams'],
          description: 'The kind of target; `teams` is a user of a Microsoft Teams tenant of the account.',
        },
        number: {
          ...text({ max: maxNumberLength, ...numberText }).facts.schema,
          description:
            'The number of a phone, or of a Teams user. A phone is called by a plus and digits, or by digits alone: separators (`-`, `.`, `(`, `)`, spaces) are removed, and any other number is refused with `unreadable_number`.',
        },
        name: {
          ...sipWord({ max: 255 }).facts.schema,
          description: 'The name of a registered user, without a realm or with that of the account.',
        },
        sipUri: { ...sipWord({ max: 1024 }).facts.schema, description: 'A SIP or SIPS URI.' },
        trunk: { ...text({ max: 64 }).facts.schema, description: 'The name of the carrier for a phone.' },
        auth: {
          type: 'object',
          required: ['username', 'password'],
          properties: {
            username: { ...credential, description: 'Sent in the clear.' },
            password: { ...credential, description: 'Never sent: it is used for the digest.' },
          },
          description: 'The credentials for the challenge of a carrier or of a SIP URI.',
        },
        from: {
          type: 'object',
          properties: {
            user: { ...sipWord({ max: 255 }).facts.schema, description: 'In place of `from`.' },
            host: { ...host({ max: 255 }).facts.schema, description: 'In place of `fromHost`.' },
          },
          description: 'The From header, instead of `from` and `fromHost`.',
        },
        headers: headersSchema,
        proxy: {
          ...sipWord({ max: 255 }).facts.schema,
          description: 'The SIP proxy that the INVITE for a SIP URI is sent to first.',
        },
        overrideTo: { type: 'string', maxLength: 255, description: 'Not served yet.' },
        tenant: {
          ...sipWord({ max: 255 }).facts.schema,
          description: 'For Teams: the `tenant_fqdn`, if the account has several tenants.',
        },
        vmail: { type: 'boolean', description: 'For Teams: whether the voice mail of the number is called.' },
      },
    },
    normalize: withoutNulls,
    example: { type: 'phone', number: '+15550100' },
  })
}

/** Returns a target field that also takes a number, name or URI as text. */
export function targetOrText(): Field<TargetInput | string> {
  const { schema, normalize, example } = target().facts
  const text = sipWord({ max: 255 }).facts.schema
  return createField({ schema: { ...text, ...schema, type: ['string', 'object'] }, normalize, example })
}

/** Drops nulls: clients send every member of their form, those without a value as null. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

export interface TargetContext {
  /** The SIP realm of the account. */
  readonly realm: string | null
  /** The carrier that newer clients name beside the target. */
  readonly trunk: string | null | undefined
}

/** Throws AppError bad_request or not_served, which names the member. */
export function toTarget(input: TargetInput, { realm, trunk }: TargetContext): Target {
  const { type, auth } = input
  if (input.overrideTo !== undefined)
    throw notServed('to.overrideTo', 'Leave it out: the To header names what is called.')
  const withAuth = auth === undefined ? {} : { auth }
  switch (type) {
    case 'phone': {
      if (input.proxy !== undefined)
        throw notServed(
          'to.proxy of a phone',
          'Set `outbound_sip_proxy` of the carrier, or call a target of type `sip`.',
        )
      const carrier = input.trunk ?? trunk ?? undefined
      const number = demand(input.number, 'to.number', 'phone')
      return { type, number, ...(carrier === undefined ? {} : { trunk: carrier }), ...withAuth }
    }
    case 'user':
      return { type, ...toUser(demand(input.name, 'to.name', 'user'), realm) }
    case 'sip': {
      const sipUri = toSipUri(demand(input.sipUri, 'to.sipUri', 'sip'), 'to.sipUri')
      const { proxy } = input
      return { type, sipUri, ...(proxy === undefined ? {} : { proxy: toProxy(proxy) }), ...withAuth }
    }
    case 'teams': {
      const { tenant, vmail } = input
      const number = demand(input.number, 'to.number', 'teams')
      const wishes = {
        ...(tenant === undefined ? {} : { tenant }),
        ...(vmail === true && { isVoiceMail: true }),
      }
      return { type, number, ...wishes }
    }
    default:
      return type satisfies never
  }
}

/** Returns the headers of the INVITE: those of the target replace those of the call. */
export function headersOf(
  ofCall: Readonly<Record<string, unknown>> | null | undefined,
  { headers }: TargetInput,
): CallRequest['headers'] {
  const own = toSipHeaders(headers, 'to.headers')
  const others = toSipHeaders(ofCall ?? undefined, 'headers')
  return [...others.filter(({ name }) => own.every((field) => field.name !== name)), ...own]
}

function demand(value: string | undefined, name: string, type: string): string {
  if (value === undefined || value === '')
    throw new AppError('bad_request', `${name} is required with to.type "${type}"`)
  return value
}

function toUser(text: string, realm: string | null): { name: string; realm: string } {
  if (realm === null) throw new AppError('bad_request', 'to.type "user" needs a SIP realm of the account')
  const at = text.lastIndexOf('@')
  if (at === -1) return { name: text, realm }
  if (text.slice(at + 1).toLowerCase() !== realm)
    throw new AppError('bad_request', 'to.name must be of the SIP realm of the account')
  return { name: text.slice(0, at), realm }
}

function toSipUri(text: string, name: string): string {
  parseTargetUri(text, name)
  return text
}

/** Returns the URI of a proxy, which may be a bare host. */
function toProxy(text: string): string {
  const uri = /^sips?:/i.test(text) ? text : `sip:${text}`
  parseProxyUri(uri, 'to.proxy')
  return uri
}
