// An account, its user, its application and a carrier, in the form in which the engine receives them.
import type { Binding } from '../../../src/sip/sip.ts'
import type { CallRequest } from '../../../src/calls/calls.ts'
import type {
  AccountFacts,
  ApplicationFacts,
  ClientFacts,
  OutboundCarrier,
} from '../../../src/calls/ports.ts'

export const account: AccountFacts = {
  account_sid: 'a0000000-0000-4000-8000-000000000001',
  service_provider_sid: 'b0000000-0000-4000-8000-000000000001',
  sip_realm: 'example.com',
  is_active: true,
  device_calling_application_sid: null,
  siprec_hook_sid: null,
  disable_cdrs: false,
  ringing_after_ms: null,
  sensitive_digits: false,
  enable_debug_log: false,
  record_all_calls: false,
  record_format: 'mp3',
}

export const client: ClientFacts = {
  client_sid: 'c0000000-0000-4000-8000-000000000001',
  username: 'alice',
  is_active: true,
  allow_direct_app_calling: true,
  allow_direct_queue_calling: true,
  allow_direct_user_calling: true,
}

const hook = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: 'u', password: 'p' }) as const

export const application: ApplicationFacts = {
  application_sid: 'd0000000-0000-4000-8000-000000000001',
  account_sid: account.account_sid,
  call_hook: hook('/call'),
  call_status_hook: hook('/status'),
  app_json: null,
  speech_synthesis_vendor: null,
  speech_synthesis_language: 'en-US',
  speech_synthesis_voice: null,
  speech_synthesis_label: null,
  speech_recognizer_vendor: null,
  speech_recognizer_language: null,
  speech_recognizer_label: null,
  env_vars: { GREETING: 'hello' },
  record_all_calls: false,
}

export const phone: Binding = {
  aor: 'alice@example.com',
  key: 'sip:alice@10.0.0.5:5070;',
  instance: undefined,
  q: undefined,
  contact: 'sip:alice@10.0.0.5:5070',
  expiresAt: Number.MAX_SAFE_INTEGER,
  registeredAt: 1_000,
  remote: { transport: 'udp', address: '192.0.2.7', port: 40_000 },
  path: [],
  callId: 'r1',
  cseq: 1,
  userAgent: undefined,
}

/** Returns a carrier that accepts calls at one gateway, with its name as sid. */
export function outboundCarrier(name: string, changes: Partial<OutboundCarrier> = {}): OutboundCarrier {
  return {
    voip_carrier_sid: name,
    name,
    isShared: false,
    gateways: [{ sip_gateway_sid: `${name} gateway`, host: '192.0.2.10', port: 5060, protocol: 'udp' }],
    tech_prefix: null,
    e164_leading_plus: false,
    send_user_phone: false,
    diversion: null,
    outbound_sip_proxy: null,
    requires_register: false,
    register_sip_realm: null,
    register_username: null,
    register_password: null,
    register_from_domain: null,
    ...changes,
  }
}

/** A call to Alice's phone, run by the application. */
export const callRequest: CallRequest = {
  account_sid: account.account_sid,
  runs: { application_sid: application.application_sid },
  to: { type: 'user', name: 'alice', realm: 'example.com' },
  from: '+4420',
  headers: [],
  ringMs: 60_000,
  notes: [],
}
