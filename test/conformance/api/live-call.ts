// Live calls of a tenant, in the engine's form.
import { createSid } from '../../../src/lib/ids.ts'
import type { TestApi } from '../../support/api.ts'
import type { TestTenant } from '../../support/api-tenants.ts'

export function callIdOf(call_sid: string): string {
  return `${call_sid}@example.com`
}

/** The most calls made: enough for tests that need another call, since each makes every list of calls longer. */
const maxCalls = 20

export function callOf(api: TestApi, tenant: TestTenant): string {
  const isMine = ({ account_sid }: { account_sid: string }): boolean => account_sid === tenant.account_sid
  const known = api.calls.length < maxCalls ? undefined : api.calls.find(isMine)
  return known?.call_sid ?? makeCall(api, tenant)
}

/** Makes a live call of the tenant with a journal, as the call engine would. */
export function makeCall(api: TestApi, { account_sid, service_provider_sid }: TestTenant): string {
  const call_sid = createSid()
  api.calls.push({
    account_sid,
    service_provider_sid,
    call_id: callIdOf(call_sid),
    sbc_callid: callIdOf(call_sid),
    call_sid,
    call_status: 'in-progress',
    direction: 'inbound',
    from: '+15551230001',
    to: '+15551230002',
    caller_name: 'Ann',
    service_url: 'http://127.0.0.1',
    sip_status: 200,
    sip_reason: 'OK',
    trace_id: 't1',
    local_sip_address: '127.0.0.1:5060',
    fs_sip_address: '127.0.0.1:5060',
  })
  api.journals.set(call_sid, [
    {
      seq: 1,
      at: 1,
      type: 'sip',
      direction: 'received',
      summary: 'INVITE',
      remote: 'udp:192.0.2.1:5060',
      raw: 'INVITE sip:1@example.com SIP/2.0\r\n\r\n',
    },
    { seq: 2, at: 1000, type: 'status', call_status: 'in-progress', sip_status: 200, sip_reason: 'OK' },
    {
      seq: 3,
      at: 3600,
      type: 'heard',
      recogniser: 'gather',
      vendor: 'deepgram',
      language: 'en-US',
      channel: 1,
      transcript: 'I would like a table for two.',
      confidence: 0.97,
      said_at: 1800,
      duration_ms: 1500,
    },
    {
      seq: 4,
      at: 3700,
      type: 'recognition-ended',
      recogniser: 'gather',
      vendor: 'deepgram',
      by: 'closed',
      because: 'the platform ended it',
      audio_ms: 2600,
      socket_ms: 2700,
    },
  ])
  return call_sid
}
