// The first question to the application: the payload of the call hook (spec "New call", calls.md §1.3, §1.5).
import type { SipRequest } from '../../sip/message/message.ts'
import type { Remote } from '../../sip/sip.ts'
import type { Origin } from '../inbound/identity.ts'
import { toSipPayload } from '../inbound/invite.ts'
import type { VouchedHeaders } from '../inbound/invite.ts'
import type { CallScript } from '../ports.ts'
import { toCommonPayload } from '../journal/projection.ts'
import type { CallFacts } from '../journal/projection.ts'
import { toNodeAddresses } from '../leg/status-reporter.ts'
import type { NodeFacts } from '../leg/status-reporter.ts'

export interface CallHookQuestion {
  readonly facts: CallFacts
  readonly application: CallScript
  readonly node: Pick<NodeFacts, 'publicIp' | 'apiBaseUrl'>
  /** Of an inbound call. */
  readonly invite?: ReceivedInvite
}

export interface ReceivedInvite {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly origin: Origin
}

export function toCallHookPayload(question: CallHookQuestion): Record<string, unknown> {
  const { facts, application, invite, node } = question
  const { started } = facts
  const hasSip = application.call_hook?.method !== 'GET'
  return {
    ...toCommonPayload(facts),
    ...toNodeAddresses(node),
    caller_name: started.caller_name,
    service_provider_sid: started.service_provider_sid,
    local_sip_address: started.local_sip_address,
    ...(hasSip && invite !== undefined ? { sip: toSip(invite, facts) } : {}),
    defaults: toDefaults(application),
    ...(application.env_vars === null ? {} : { env_vars: application.env_vars }),
  }
}

function toSip({ request, raw, remote, origin }: ReceivedInvite, facts: CallFacts): object {
  const { started, application_sid = '' } = facts
  return toSipPayload(request, raw, {
    added: {
      'X-Account-Sid': started.account_sid,
      'X-Application-Sid': application_sid,
      'X-CID': started.sip_call_id,
      'X-Forwarded-For': remote.address,
      ...originHeaders(origin),
    },
  })
}

function originHeaders(origin: Origin): VouchedHeaders {
  if (origin.kind === 'user')
    return { 'X-Authenticated-User': `${origin.user.username}@${origin.user.realm}` }
  const { name, voip_carrier_sid } = origin.carrier
  return { 'X-Originating-Carrier': name, 'X-Voip-Carrier-Sid': voip_carrier_sid }
}

function toDefaults(application: CallScript): object {
  return {
    synthesizer: withoutNulls({
      vendor: application.speech_synthesis_vendor,
      label: application.speech_synthesis_label,
      language: application.speech_synthesis_language,
      voice: application.speech_synthesis_voice,
    }),
    recognizer: withoutNulls({
      vendor: application.speech_recognizer_vendor,
      label: application.speech_recognizer_label,
      language: application.speech_recognizer_language,
    }),
  }
}

function withoutNulls(values: Readonly<Record<string, string | null>>): Record<string, string> {
  const known: Record<string, string> = {}
  for (const [key, value] of Object.entries(values)) if (value !== null) known[key] = value
  return known
}
