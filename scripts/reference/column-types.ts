// Columns with fewer values than their database type allows. The types of all others follow from the migrations.

export const columnTypes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  webhooks: { method: "'GET' | 'POST'" },
  outbox: { method: "'GET' | 'POST'", attempts: 'number' },
  delivery_log: { outcome: "'delivered' | 'abandoned'" },
  password_reset_requests: { attempts: 'number' },
  voip_carriers: {
    smpp_enquire_link_interval: 'number',
    dtmf_type: "'rfc2833' | 'tones' | 'info'",
    trunk_type: "'static_ip' | 'auth' | 'reg'",
  },
  sip_gateways: { protocol: "'udp' | 'tcp' | 'tls' | 'tls/srtp'" },
  lcr_carrier_set_entries: { workload: 'number', priority: 'number' },
  speech_credentials: { tts_tested_ok: 'Flag | null', stt_tested_ok: 'Flag | null' },
  call_defences: {
    kill_switch: "'off' | 'new_calls' | 'all_calls' | null",
    allow_premium_rate: 'Flag | null',
    allow_satellite: 'Flag | null',
    allow_high_risk: 'Flag | null',
  },
  recent_calls: { direction: "'inbound' | 'outbound'", answered: 'Flag' },
  recordings: {
    format: "'mp3' | 'wav'",
    state: "'recording' | 'waiting' | 'stored' | 'failed' | 'expired'",
    place: "'bucket' | 'disk' | null",
    bytes: 'number',
    duration_ms: 'number',
    attempts: 'number',
  },
  audit_log: {
    actor_kind: "'api_key' | 'user' | 'anonymous' | 'platform'",
    action: "'create' | 'update' | 'delete'",
  },
}
