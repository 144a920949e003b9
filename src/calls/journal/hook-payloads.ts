// The bodies of the hooks of a call: the call hook, action hooks and status hooks.
import { bodyParts } from '../../sip/message/body.ts'
import { isKnownName } from '../../sip/message/header-names.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Remote, SipUser } from '../../sip/sip.ts'
import { isFinal } from './call-status.ts'
import type { CallScript, CarrierFacts, TeamsTenantFacts } from '../ports.ts'
import { failureOf, localSipAddressOf, originOf, parentOf, type CallFacts } from './projection.ts'
import { toText, withoutKeys } from './sip-text.ts'

/** Returns the fields that every hook of a call has, without the address of the node. */
export function toCommonPayload(facts: CallFacts): Record<string, unknown> {
  const { started } = facts
  return {
    call_sid: started.call_sid,
    direction: started.direction,
    from: started.from,
    to: started.to,
    call_id: started.sip_call_id,
    sbc_callid: started.sip_call_id,
    sip_status: facts.sip_status,
    sip_reason: facts.sip_reason,
    call_status: facts.call_status,
    account_sid: started.account_sid,
    ...(facts.application_sid === undefined ? {} : { application_sid: facts.application_sid }),
    trace_id: started.trace_id,
    ...parentOf(started),
    ...originOf(started),
    ...(facts.customerData === undefined ? {} : { customerData: facts.customerData }),
  }
}

/** Returns the fields that a change adds to the common ones: the cause, who ended the call, and the failure. */
export function toChangePayload(facts: CallFacts): Record<string, unknown> {
  const { change, refusal } = facts
  if (change === undefined) return {}
  const { sip_reason_header, call_termination_by, headers } = change
  return {
    ...(sip_reason_header === undefined ? {} : { sip_reason_header }),
    ...(call_termination_by === undefined ? {} : { call_termination_by }),
    ...(change.call_status === 'completed' ? { duration: facts.duration ?? 0 } : {}),
    ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
    // Not named `error`, which reports that the answer of a hook could not be read.
    ...(refusal === undefined || !isFinal(change.call_status) ? {} : { failure: failureOf(refusal) }),
  }
}

/** The facts about the serving node in payloads. */
export interface NodeFacts {
  /** Set when the operator configured one. */
  readonly publicIp: string | undefined
  /** The base URL of the REST API for call control. */
  readonly apiBaseUrl: string | undefined
}

/** Returns the fields about the node in every payload after the first webhook. */
export function toNodePayload(facts: CallFacts, node: NodeFacts): Record<string, unknown> {
  return { fs_sip_address: localSipAddressOf(facts), ...toNodeAddresses(node) }
}

/** Returns the fields about the node in every payload, as far as they are configured. */
export function toNodeAddresses({ publicIp, apiBaseUrl }: NodeFacts): Record<string, unknown> {
  return {
    ...(publicIp === undefined ? {} : { fs_public_ip: publicIp }),
    ...(apiBaseUrl === undefined ? {} : { api_base_url: apiBaseUrl }),
  }
}

export interface CallHookQuestion {
  readonly facts: CallFacts
  readonly script: CallScript
  readonly node: NodeFacts
  /** The INVITE of an inbound call. */
  readonly invite?: ReceivedInvite
  /** The participants of a recording session whose streams arrived. */
  readonly participants?: readonly object[] | undefined
}

/** The authenticated origin of a call in payloads: a user, a carrier or a Teams tenant. */
export type PayloadOrigin =
  | { readonly kind: 'user'; readonly user: Pick<SipUser, 'username' | 'realm'> }
  | { readonly kind: 'carrier'; readonly carrier: Pick<CarrierFacts, 'name' | 'voip_carrier_sid'> }
  | { readonly kind: 'teams'; readonly tenant: Pick<TeamsTenantFacts, 'tenant_fqdn'> }

export interface ReceivedInvite {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly origin: PayloadOrigin
}

export function toCallHookPayload(question: CallHookQuestion): Record<string, unknown> {
  const { facts, script, invite, node, participants } = question
  const { started } = facts
  return {
    ...toCommonPayload(facts),
    ...toNodeAddresses(node),
    caller_name: started.caller_name,
    service_provider_sid: started.service_provider_sid,
    local_sip_address: localSipAddressOf(facts),
    ...(facts.identity === undefined ? {} : { stir_shaken: facts.identity }),
    ...(participants === undefined ? {} : { participants }),
    ...(carriesSip(script) && invite !== undefined ? { sip: toSip(invite, facts) } : {}),
    defaults: toDefaults(script),
    ...(script.env_vars === null ? {} : { env_vars: script.env_vars }),
  }
}

/** Returns false for a hook over HTTP with GET, whose query has no room for an INVITE. A WebSocket has no method. */
function carriesSip({ call_hook }: CallScript): boolean {
  return call_hook === null || call_hook.method !== 'GET' || /^wss?:/i.test(call_hook.url)
}

function toSip({ request, raw, remote, origin }: ReceivedInvite, facts: CallFacts): object {
  const { started, application_sid = '' } = facts
  return toSipPayload(request, raw, {
    added: {
      'X-Account-Sid': started.account_sid,
      'X-Application-Sid': application_sid,
      'X-CID': started.sip_call_id,
      'X-Forwarded-For': started.originating_sip_ip ?? remote.address,
      ...originHeaders(origin),
    },
  })
}

function originHeaders(origin: PayloadOrigin): VouchedHeaders {
  if (origin.kind === 'user')
    return { 'X-Authenticated-User': `${origin.user.username}@${origin.user.realm}` }
  if (origin.kind === 'teams') return { 'X-MS-Teams-Tenant-FQDN': origin.tenant.tenant_fqdn }
  const { name, voip_carrier_sid } = origin.carrier
  return { 'X-Originating-Carrier': name, 'X-Voip-Carrier-Sid': voip_carrier_sid }
}

function toDefaults(script: CallScript): object {
  const { fallback_voice: fallback, fallback_recognizer } = script
  return {
    synthesizer: withoutNulls({
      vendor: script.speech_synthesis_vendor,
      label: script.speech_synthesis_label,
      language: script.speech_synthesis_language,
      voice: script.speech_synthesis_voice,
      fallback_vendor: fallback?.vendor,
      fallback_label: fallback?.label,
      fallback_language: fallback?.language,
      fallback_voice: fallback?.voice,
    }),
    recognizer: withoutNulls({
      vendor: script.speech_recognizer_vendor,
      label: script.speech_recognizer_label,
      language: script.speech_recognizer_language,
      fallback_vendor: fallback_recognizer?.vendor,
      fallback_label: fallback_recognizer?.label,
      fallback_language: fallback_recognizer?.language,
    }),
  }
}

function withoutNulls(values: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  const known: Record<string, string> = {}
  for (const [key, value] of Object.entries(values))
    if (value !== null && value !== undefined) known[key] = value
  return known
}

const vouchedNames = [
  'X-Account-Sid',
  'X-Application-Sid',
  'X-CID',
  'X-Forwarded-For',
  'X-Authenticated-User',
  'X-Originating-Carrier',
  'X-Voip-Carrier-Sid',
  'X-MS-Teams-Tenant-FQDN',
] as const

/** The headers that only the platform writes, so that an application can trust them. */
export type VouchedHeaders = { readonly [N in (typeof vouchedNames)[number]]?: string }

const vouched: ReadonlySet<string> = new Set(vouchedNames.map((name) => name.toLowerCase()))

export interface SipPayloadOptions {
  /** The headers of the platform. Headers of the caller with their names are left out, also where none is added. */
  readonly added: VouchedHeaders
}

/** Returns the `sip` object of the call hook. `payload` has the parts of the body, by their number. */
export function toSipPayload(request: SipRequest, raw: Uint8Array, { added }: SipPayloadOptions): object {
  const text = toText(request, raw)
  const parts = bodyParts(request).map(({ type, content }) => ({ type, content: withoutKeys(content) }))
  return {
    raw: text,
    headers: { ...headersAsReceived(request, text), ...added },
    body: withoutKeys(Buffer.from(request.body).toString('utf8')),
    method: request.method,
    version: (request.version ?? 'SIP/2.0').replace(/^SIP\//i, ''),
    uri: request.uri,
    payload: Object.fromEntries(parts.map((part, index) => [String(index), part])),
  }
}

// The credentials of the caller. An application does not need them, and a thief could use them.
const withheld: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Returns headers: known names in lower case, others as spelled. Repeated fields are joined with a comma. */
function headersAsReceived(request: SipRequest, raw: string): Record<string, string> {
  const spelling = spellings(raw)
  const headers: Record<string, string> = {}
  for (const { name, value } of request.headers) {
    if (withheld.has(name) || vouched.has(name)) continue
    const key = isKnownName(name) ? name : (spelling.get(name) ?? name)
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${value}` : value
  }
  return headers
}

function spellings(raw: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const head = raw.split(/\r?\n\r?\n/, 1)[0] ?? ''
  for (const [, name] of head.matchAll(/^([^\s:]+)[ \t]*:/gm))
    if (name !== undefined) found.set(name.toLowerCase(), name)
  return found
}
