// The columns of every table as rows in memory. Generated from the migrations by `npm run docs`: edit a migration, or
// scripts/reference/column-types.ts where a column holds fewer values than its type in the database.
// Columns ending in _sid are ids; times are epoch ms; flags are 0 or 1; JSON travels as text. `version` starts at 1 and
// rises with every update. Which rows a caller may touch, and which columns are secrets, stands in descriptors.ts.

type Flag = 0 | 1

export interface AccountsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly name: string
  readonly sip_realm: string | null
  readonly is_active: Flag
  readonly plan_type: string
  readonly webhook_secret: string
  readonly disable_cdrs: Flag
  readonly ringing_after_ms: number | null
  readonly sensitive_digits: Flag
  readonly record_all_calls: Flag
  readonly record_format: string
  readonly bucket_credential: string | null
  readonly enable_debug_log: Flag
  readonly device_to_call_ratio: number
  readonly trial_end_date: number | null
  readonly deactivated_reason: string | null
  readonly registration_hook_sid: string | null
  readonly queue_event_hook_sid: string | null
  readonly device_calling_application_sid: string | null
  readonly siprec_hook_sid: string | null
}

export interface AlertsRow {
  readonly alert_sid: string
  readonly account_sid: string | null
  readonly service_provider_sid: string
  readonly alert_type: string
  readonly message: string
  readonly detail: string | null
  readonly vendor: string | null
  readonly call_sid: string | null
  readonly time: number
}

export interface ApiKeysRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly api_key_sid: string
  readonly token_hash: string
  readonly token_prefix: string
  readonly expires_at: number | null
  readonly last_used: number | null
}

export interface ApplicationsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid: string
  readonly name: string
  readonly call_hook_sid: string | null
  readonly call_status_hook_sid: string | null
  readonly messaging_hook_sid: string | null
  readonly app_json: string | null
  readonly use_for_fallback_speech: Flag
  readonly record_all_calls: Flag
  readonly env_vars: string | null
  readonly speech_synthesis_vendor: string | null
  readonly speech_synthesis_language: string | null
  readonly speech_synthesis_voice: string | null
  readonly speech_synthesis_label: string | null
  readonly speech_recognizer_vendor: string | null
  readonly speech_recognizer_language: string | null
  readonly speech_recognizer_label: string | null
  readonly fallback_speech_synthesis_vendor: string | null
  readonly fallback_speech_synthesis_language: string | null
  readonly fallback_speech_synthesis_voice: string | null
  readonly fallback_speech_synthesis_label: string | null
  readonly fallback_speech_recognizer_vendor: string | null
  readonly fallback_speech_recognizer_language: string | null
  readonly fallback_speech_recognizer_label: string | null
}

export interface AuditHeadRow {
  readonly id: number
  readonly seq: number
  readonly hash: string
  readonly seal: string
}

export interface AuditLogRow {
  readonly seq: number
  readonly at: number
  readonly actor_kind: 'api_key' | 'user' | 'anonymous' | 'platform'
  readonly actor_sid: string | null
  readonly actor_name: string | null
  readonly address: string | null
  readonly request_id: string | null
  readonly service_provider_sid: string | null
  readonly account_sid: string | null
  readonly action: 'create' | 'update' | 'delete'
  readonly resource: string
  readonly sid: string
  readonly before: string | null
  readonly after: string | null
  readonly previous_hash: string
  readonly hash: string
}

export interface CallDefencesRow {
  readonly created_at: number
  readonly version: number
  readonly call_defence_sid: string
  readonly account_sid: string | null
  readonly service_provider_sid: string
  readonly kill_switch: 'off' | 'new_calls' | 'all_calls' | null
  readonly country_code: string | null
  readonly allow_premium_rate: Flag | null
  readonly allow_satellite: Flag | null
  readonly allow_high_risk: Flag | null
  readonly open_prefixes: string
  readonly closed_prefixes: string
  readonly calls_per_second: number | null
  readonly calls_per_minute: number | null
  readonly concurrent_calls: number | null
  readonly minutes_per_day: number | null
}

export interface CallJournalRow {
  readonly call_sid: string
  readonly first_seq: number
  readonly account_sid: string
  readonly events: string
  readonly created_at: number
}

export interface CarrierHostsRow {
  readonly created_at: number
  readonly version: number
  readonly carrier_host_sid: string
  readonly account_sid: string
  readonly host: string
  readonly called_at: number
}

export interface CarrierRegistrationsRow {
  readonly voip_carrier_sid: string
  readonly node_id: string | null
  readonly call_id: string | null
  readonly cseq: number
  readonly contact: string | null
  readonly expires_at: number
  readonly gateway: string | null
  readonly addresses: string
  readonly routes: string
}

export interface ClientsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly client_sid: string
  readonly username: string
  readonly password: string
  readonly is_active: Flag
  readonly allow_direct_app_calling: Flag
  readonly allow_direct_queue_calling: Flag
  readonly allow_direct_user_calling: Flag
}

export interface DeliveryLogRow {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  readonly sequence: number
  readonly url: string
  readonly outcome: 'delivered' | 'abandoned'
  readonly status: number | null
  readonly attempts: number
  readonly duration_ms: number | null
  readonly error: string | null
  readonly created_at: number
  readonly settled_at: number
}

export interface GoogleCustomVoicesRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly google_custom_voice_sid: string
  readonly speech_credential_sid: string
  readonly name: string
  readonly model: string
  readonly reported_usage: string
  readonly voice_cloning_key: string | null
  readonly use_voice_cloning_key: Flag
}

export interface IdempotencyKeysRow {
  readonly principal: string
  readonly key: string
  readonly route: string
  readonly fingerprint: string
  readonly status: number
  readonly response: string | null
  readonly created_at: number
  readonly expires_at: number
}

export interface LcrCarrierSetEntriesRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly lcr_carrier_set_entry_sid: string
  readonly lcr_route_sid: string
  readonly voip_carrier_sid: string
  readonly workload: number
  readonly priority: number
}

export interface LcrRoutesRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly lcr_route_sid: string
  readonly lcr_sid: string
  readonly regex: string
  readonly description: string | null
  readonly priority: number
}

export interface LcrsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly lcr_sid: string
  readonly name: string
  readonly is_active: Flag
  readonly default_carrier_set_entry_sid: string | null
}

export interface LimitsRow {
  readonly created_at: number
  readonly version: number
  readonly limit_sid: string
  readonly account_sid: string | null
  readonly service_provider_sid: string
  readonly category: string
  readonly quantity: number
}

export interface MsTeamsTenantsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly ms_teams_tenant_sid: string
  readonly application_sid: string | null
  readonly tenant_fqdn: string
}

export interface NodesRow {
  readonly node_id: string
  readonly place: string | null
  readonly beats: number
  readonly alive_at: number | null
}

export interface OpenCallsRow {
  readonly call_sid: string
  readonly account_sid: string
  readonly created_at: number
  readonly node_id: string
  readonly alive_at: number | null
}

export interface OutboxRow {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  readonly sequence: number
  readonly url: string
  readonly destination: string
  readonly method: 'GET' | 'POST'
  readonly username: string | null
  readonly password: string | null
  readonly payload: string
  readonly attempts: number
  readonly due_at: number | null
  readonly created_at: number
}

export interface OutdialUsageRow {
  readonly account_sid: string
  readonly node_id: string
  readonly minute: number
  readonly calls_in_minute: number
  readonly day: number
  readonly spoken_ms: number
  readonly live: number
  readonly counted_at: number
}

export interface PasswordResetRequestsRow {
  readonly created_at: number
  readonly version: number
  readonly password_reset_request_sid: string
  readonly email: string
  readonly attempts: number
  readonly due_at: number
}

export interface PasswordResetsRow {
  readonly created_at: number
  readonly version: number
  readonly password_reset_sid: string
  readonly user_sid: string
  readonly link_hash: string
  readonly expires_at: number
  readonly signed_in_at: number | null
}

export interface PasswordSettingsRow {
  readonly created_at: number
  readonly version: number
  readonly password_settings_sid: string
  readonly min_password_length: number
  readonly require_digit: Flag
  readonly require_special_character: Flag
}

export interface PhoneNumbersRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly phone_number_sid: string
  readonly number: string
  readonly received_number: string
  readonly e164_number: string | null
  readonly is_pattern: Flag
  readonly voip_carrier_sid: string | null
  readonly application_sid: string | null
}

export interface RecentCallCountsRow {
  readonly owner_sid: string
  readonly span_ms: number
  readonly starts_at: number
  readonly service_provider_sid: string
  readonly inbound_answered: number
  readonly inbound_unanswered: number
  readonly outbound_answered: number
  readonly outbound_unanswered: number
}

export interface RecentCallsRow {
  readonly call_sid: string
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid: string | null
  readonly sip_call_id: string
  readonly sip_parent_call_id: string | null
  readonly parent_call_sid: string | null
  readonly from: string
  readonly to: string
  readonly direction: 'inbound' | 'outbound'
  readonly answered: Flag
  readonly sip_status: number
  readonly duration: number
  readonly attempted_at: number
  readonly answered_at: number | null
  readonly terminated_at: number
  readonly termination_reason: string
  readonly host: string
  readonly remote_host: string
  readonly trunk: string
  readonly trace_id: string
  readonly recording_url: string | null
  readonly attempts: string | null
  readonly stir_shaken: string | null
  readonly failure: string | null
}

export interface RecordingsRow {
  readonly call_sid: string
  readonly account_sid: string
  readonly key: string
  readonly format: 'mp3' | 'wav'
  readonly state: 'recording' | 'waiting' | 'stored' | 'failed' | 'expired'
  readonly place: 'bucket' | 'disk' | null
  readonly spool: string
  readonly bytes: number
  readonly duration_ms: number
  readonly attempts: number
  readonly next_attempt_at: number | null
  readonly started_at: number
  readonly ended_at: number | null
  readonly stored_at: number | null
  readonly reason: string | null
  readonly notice: string | null
}

export interface RegistrationsRow {
  readonly node: string
  readonly aor: string
  readonly key: string
  readonly account_sid: string
  readonly client_sid: string | null
  readonly username: string
  readonly realm: string
  readonly contact: string
  readonly instance: string | null
  readonly q: string | null
  readonly path: string
  readonly transport: string
  readonly address: string
  readonly port: number
  readonly call_id: string
  readonly cseq: number
  readonly user_agent: string | null
  readonly expires_at: number
  readonly updated_at: number
}

export interface SbcAddressesRow {
  readonly created_at: number
  readonly version: number
  readonly sbc_address_sid: string
  readonly service_provider_sid: string | null
  readonly ipv4: string
  readonly port: number
  readonly tls_port: number | null
  readonly wss_port: number | null
  readonly last_updated: number | null
}

export interface ServiceProvidersRow {
  readonly created_at: number
  readonly version: number
  readonly service_provider_sid: string
  readonly name: string
  readonly description: string | null
  readonly root_domain: string | null
  readonly ms_teams_fqdn: string | null
  readonly registration_hook_sid: string | null
}

export interface SettingsRow {
  readonly created_at: number
  readonly version: number
  readonly name: string
  readonly value: string
}

export interface SipGatewaysRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly sip_gateway_sid: string
  readonly voip_carrier_sid: string
  readonly ipv4: string
  readonly port: number | null
  readonly netmask: number
  readonly inbound: Flag
  readonly outbound: Flag
  readonly is_active: Flag
  readonly protocol: 'udp' | 'tcp' | 'tls' | 'tls/srtp'
  readonly pad_crypto: Flag
  readonly send_options_ping: Flag
  readonly use_sips_scheme: Flag
  readonly remove_ice: Flag
  readonly dtls_off: Flag
}

export interface SmppAddressesRow {
  readonly created_at: number
  readonly version: number
  readonly smpp_address_sid: string
  readonly service_provider_sid: string | null
  readonly ipv4: string
  readonly port: number
  readonly use_tls: Flag
  readonly is_primary: Flag
}

export interface SmppGatewaysRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly smpp_gateway_sid: string
  readonly voip_carrier_sid: string
  readonly ipv4: string
  readonly port: number
  readonly netmask: number
  readonly is_primary: Flag
  readonly inbound: Flag
  readonly outbound: Flag
  readonly use_tls: Flag
}

export interface SpeechCredentialsRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly speech_credential_sid: string
  readonly vendor: string
  readonly label: string | null
  readonly settings: string
  readonly use_for_tts: Flag
  readonly use_for_stt: Flag
  readonly last_used: number | null
  readonly last_tested: number | null
  readonly tts_tested_ok: Flag | null
  readonly stt_tested_ok: Flag | null
}

export interface SystemInformationRow {
  readonly created_at: number
  readonly version: number
  readonly system_information_sid: string
  readonly domain_name: string | null
  readonly sip_domain_name: string | null
  readonly monitoring_domain_name: string | null
  readonly private_network_cidr: string | null
  readonly log_level: string
}

export interface UnrecordedCallsRow {
  readonly call_sid: string
  readonly ended_at: number
}

export interface UserSessionsRow {
  readonly created_at: number
  readonly version: number
  readonly user_session_sid: string
  readonly user_sid: string
  readonly expires_at: number
}

export interface UsersRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly user_sid: string
  readonly name: string
  readonly email: string
  readonly pending_email: string | null
  readonly phone: string | null
  readonly hashed_password: string | null
  readonly provider: string
  readonly provider_userid: string | null
  readonly permissions: string
  readonly is_active: Flag
  readonly force_change: Flag
  readonly email_validated: Flag
  readonly phone_validated: Flag
  readonly email_content_opt_out: Flag
}

export interface VoipCarriersRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly voip_carrier_sid: string
  readonly name: string
  readonly description: string | null
  readonly application_sid: string | null
  readonly e164_leading_plus: Flag
  readonly requires_register: Flag
  readonly register_username: string | null
  readonly register_sip_realm: string | null
  readonly register_password: string | null
  readonly register_from_user: string | null
  readonly register_from_domain: string | null
  readonly register_public_ip_in_contact: Flag
  readonly register_status: string | null
  readonly tech_prefix: string | null
  readonly inbound_auth_username: string | null
  readonly inbound_auth_password: string | null
  readonly diversion: string | null
  readonly is_active: Flag
  readonly smpp_system_id: string | null
  readonly smpp_password: string | null
  readonly smpp_inbound_system_id: string | null
  readonly smpp_inbound_password: string | null
  readonly smpp_enquire_link_interval: number
  readonly dtmf_type: 'rfc2833' | 'tones' | 'info'
  readonly outbound_sip_proxy: string | null
  readonly trunk_type: 'static_ip' | 'auth' | 'reg'
}

export interface WebhooksRow {
  readonly created_at: number
  readonly version: number
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  readonly webhook_sid: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly username: string | null
  readonly password: string | null
}

/** The tables that a repository reads and writes. */
export interface Tables {
  readonly accounts: AccountsRow
  readonly api_keys: ApiKeysRow
  readonly applications: ApplicationsRow
  readonly call_defences: CallDefencesRow
  readonly carrier_hosts: CarrierHostsRow
  readonly clients: ClientsRow
  readonly google_custom_voices: GoogleCustomVoicesRow
  readonly lcr_carrier_set_entries: LcrCarrierSetEntriesRow
  readonly lcr_routes: LcrRoutesRow
  readonly lcrs: LcrsRow
  readonly limits: LimitsRow
  readonly ms_teams_tenants: MsTeamsTenantsRow
  readonly password_reset_requests: PasswordResetRequestsRow
  readonly password_resets: PasswordResetsRow
  readonly password_settings: PasswordSettingsRow
  readonly phone_numbers: PhoneNumbersRow
  readonly sbc_addresses: SbcAddressesRow
  readonly service_providers: ServiceProvidersRow
  readonly settings: SettingsRow
  readonly sip_gateways: SipGatewaysRow
  readonly smpp_addresses: SmppAddressesRow
  readonly smpp_gateways: SmppGatewaysRow
  readonly speech_credentials: SpeechCredentialsRow
  readonly system_information: SystemInformationRow
  readonly user_sessions: UserSessionsRow
  readonly users: UsersRow
  readonly voip_carriers: VoipCarriersRow
  readonly webhooks: WebhooksRow
}

/** Every table: those of the repositories, and those that have a store of their own. */
export interface Schema extends Tables {
  readonly alerts: AlertsRow
  readonly audit_head: AuditHeadRow
  readonly audit_log: AuditLogRow
  readonly call_journal: CallJournalRow
  readonly carrier_registrations: CarrierRegistrationsRow
  readonly delivery_log: DeliveryLogRow
  readonly idempotency_keys: IdempotencyKeysRow
  readonly nodes: NodesRow
  readonly open_calls: OpenCallsRow
  readonly outbox: OutboxRow
  readonly outdial_usage: OutdialUsageRow
  readonly recent_call_counts: RecentCallCountsRow
  readonly recent_calls: RecentCallsRow
  readonly recordings: RecordingsRow
  readonly registrations: RegistrationsRow
  readonly unrecorded_calls: UnrecordedCallsRow
}

type References = { readonly [T in keyof Tables]?: { readonly [C in keyof Tables[T]]?: keyof Tables } }

/** By table: the columns that point at rows of other tables, and which tables these are. Owners are left out. */
export const references: References = {
  accounts: {
    device_calling_application_sid: 'applications',
    queue_event_hook_sid: 'webhooks',
    registration_hook_sid: 'webhooks',
    siprec_hook_sid: 'applications',
  },
  applications: {
    call_hook_sid: 'webhooks',
    call_status_hook_sid: 'webhooks',
    messaging_hook_sid: 'webhooks',
  },
  google_custom_voices: {
    speech_credential_sid: 'speech_credentials',
  },
  lcr_carrier_set_entries: {
    lcr_route_sid: 'lcr_routes',
    voip_carrier_sid: 'voip_carriers',
  },
  lcr_routes: {
    lcr_sid: 'lcrs',
  },
  lcrs: {
    default_carrier_set_entry_sid: 'lcr_carrier_set_entries',
  },
  ms_teams_tenants: {
    application_sid: 'applications',
  },
  password_resets: {
    user_sid: 'users',
  },
  phone_numbers: {
    application_sid: 'applications',
    voip_carrier_sid: 'voip_carriers',
  },
  service_providers: {
    registration_hook_sid: 'webhooks',
  },
  sip_gateways: {
    voip_carrier_sid: 'voip_carriers',
  },
  smpp_gateways: {
    voip_carrier_sid: 'voip_carriers',
  },
  user_sessions: {
    user_sid: 'users',
  },
  voip_carriers: {
    application_sid: 'applications',
  },
}

/** By table: its columns, which a start looks for in a database that has been migrated before. */
export const columns: { readonly [T in keyof Schema]: readonly (keyof Schema[T])[] } = {
  accounts: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'name',
    'sip_realm',
    'is_active',
    'plan_type',
    'webhook_secret',
    'disable_cdrs',
    'ringing_after_ms',
    'sensitive_digits',
    'record_all_calls',
    'record_format',
    'bucket_credential',
    'enable_debug_log',
    'device_to_call_ratio',
    'trial_end_date',
    'deactivated_reason',
    'registration_hook_sid',
    'queue_event_hook_sid',
    'device_calling_application_sid',
    'siprec_hook_sid',
  ],
  alerts: [
    'alert_sid',
    'account_sid',
    'service_provider_sid',
    'alert_type',
    'message',
    'detail',
    'vendor',
    'call_sid',
    'time',
  ],
  api_keys: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'api_key_sid',
    'token_hash',
    'token_prefix',
    'expires_at',
    'last_used',
  ],
  applications: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'application_sid',
    'name',
    'call_hook_sid',
    'call_status_hook_sid',
    'messaging_hook_sid',
    'app_json',
    'use_for_fallback_speech',
    'record_all_calls',
    'env_vars',
    'speech_synthesis_vendor',
    'speech_synthesis_language',
    'speech_synthesis_voice',
    'speech_synthesis_label',
    'speech_recognizer_vendor',
    'speech_recognizer_language',
    'speech_recognizer_label',
    'fallback_speech_synthesis_vendor',
    'fallback_speech_synthesis_language',
    'fallback_speech_synthesis_voice',
    'fallback_speech_synthesis_label',
    'fallback_speech_recognizer_vendor',
    'fallback_speech_recognizer_language',
    'fallback_speech_recognizer_label',
  ],
  audit_head: ['id', 'seq', 'hash', 'seal'],
  audit_log: [
    'seq',
    'at',
    'actor_kind',
    'actor_sid',
    'actor_name',
    'address',
    'request_id',
    'service_provider_sid',
    'account_sid',
    'action',
    'resource',
    'sid',
    'before',
    'after',
    'previous_hash',
    'hash',
  ],
  call_defences: [
    'created_at',
    'version',
    'call_defence_sid',
    'account_sid',
    'service_provider_sid',
    'kill_switch',
    'country_code',
    'allow_premium_rate',
    'allow_satellite',
    'allow_high_risk',
    'open_prefixes',
    'closed_prefixes',
    'calls_per_second',
    'calls_per_minute',
    'concurrent_calls',
    'minutes_per_day',
  ],
  call_journal: ['call_sid', 'first_seq', 'account_sid', 'events', 'created_at'],
  carrier_hosts: ['created_at', 'version', 'carrier_host_sid', 'account_sid', 'host', 'called_at'],
  carrier_registrations: [
    'voip_carrier_sid',
    'node_id',
    'call_id',
    'cseq',
    'contact',
    'expires_at',
    'gateway',
    'addresses',
    'routes',
  ],
  clients: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'client_sid',
    'username',
    'password',
    'is_active',
    'allow_direct_app_calling',
    'allow_direct_queue_calling',
    'allow_direct_user_calling',
  ],
  delivery_log: [
    'id',
    'account_sid',
    'call_sid',
    'sequence',
    'url',
    'outcome',
    'status',
    'attempts',
    'duration_ms',
    'error',
    'created_at',
    'settled_at',
  ],
  google_custom_voices: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'google_custom_voice_sid',
    'speech_credential_sid',
    'name',
    'model',
    'reported_usage',
    'voice_cloning_key',
    'use_voice_cloning_key',
  ],
  idempotency_keys: [
    'principal',
    'key',
    'route',
    'fingerprint',
    'status',
    'response',
    'created_at',
    'expires_at',
  ],
  lcr_carrier_set_entries: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'lcr_carrier_set_entry_sid',
    'lcr_route_sid',
    'voip_carrier_sid',
    'workload',
    'priority',
  ],
  lcr_routes: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'lcr_route_sid',
    'lcr_sid',
    'regex',
    'description',
    'priority',
  ],
  lcrs: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'lcr_sid',
    'name',
    'is_active',
    'default_carrier_set_entry_sid',
  ],
  limits: [
    'created_at',
    'version',
    'limit_sid',
    'account_sid',
    'service_provider_sid',
    'category',
    'quantity',
  ],
  ms_teams_tenants: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'ms_teams_tenant_sid',
    'application_sid',
    'tenant_fqdn',
  ],
  nodes: ['node_id', 'place', 'beats', 'alive_at'],
  open_calls: ['call_sid', 'account_sid', 'created_at', 'node_id', 'alive_at'],
  outbox: [
    'id',
    'account_sid',
    'call_sid',
    'sequence',
    'url',
    'destination',
    'method',
    'username',
    'password',
    'payload',
    'attempts',
    'due_at',
    'created_at',
  ],
  outdial_usage: [
    'account_sid',
    'node_id',
    'minute',
    'calls_in_minute',
    'day',
    'spoken_ms',
    'live',
    'counted_at',
  ],
  password_reset_requests: [
    'created_at',
    'version',
    'password_reset_request_sid',
    'email',
    'attempts',
    'due_at',
  ],
  password_resets: [
    'created_at',
    'version',
    'password_reset_sid',
    'user_sid',
    'link_hash',
    'expires_at',
    'signed_in_at',
  ],
  password_settings: [
    'created_at',
    'version',
    'password_settings_sid',
    'min_password_length',
    'require_digit',
    'require_special_character',
  ],
  phone_numbers: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'phone_number_sid',
    'number',
    'received_number',
    'e164_number',
    'is_pattern',
    'voip_carrier_sid',
    'application_sid',
  ],
  recent_call_counts: [
    'owner_sid',
    'span_ms',
    'starts_at',
    'service_provider_sid',
    'inbound_answered',
    'inbound_unanswered',
    'outbound_answered',
    'outbound_unanswered',
  ],
  recent_calls: [
    'call_sid',
    'account_sid',
    'service_provider_sid',
    'application_sid',
    'sip_call_id',
    'sip_parent_call_id',
    'parent_call_sid',
    'from',
    'to',
    'direction',
    'answered',
    'sip_status',
    'duration',
    'attempted_at',
    'answered_at',
    'terminated_at',
    'termination_reason',
    'host',
    'remote_host',
    'trunk',
    'trace_id',
    'recording_url',
    'attempts',
    'stir_shaken',
    'failure',
  ],
  recordings: [
    'call_sid',
    'account_sid',
    'key',
    'format',
    'state',
    'place',
    'spool',
    'bytes',
    'duration_ms',
    'attempts',
    'next_attempt_at',
    'started_at',
    'ended_at',
    'stored_at',
    'reason',
    'notice',
  ],
  registrations: [
    'node',
    'aor',
    'key',
    'account_sid',
    'client_sid',
    'username',
    'realm',
    'contact',
    'instance',
    'q',
    'path',
    'transport',
    'address',
    'port',
    'call_id',
    'cseq',
    'user_agent',
    'expires_at',
    'updated_at',
  ],
  sbc_addresses: [
    'created_at',
    'version',
    'sbc_address_sid',
    'service_provider_sid',
    'ipv4',
    'port',
    'tls_port',
    'wss_port',
    'last_updated',
  ],
  service_providers: [
    'created_at',
    'version',
    'service_provider_sid',
    'name',
    'description',
    'root_domain',
    'ms_teams_fqdn',
    'registration_hook_sid',
  ],
  settings: ['created_at', 'version', 'name', 'value'],
  sip_gateways: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'sip_gateway_sid',
    'voip_carrier_sid',
    'ipv4',
    'port',
    'netmask',
    'inbound',
    'outbound',
    'is_active',
    'protocol',
    'pad_crypto',
    'send_options_ping',
    'use_sips_scheme',
    'remove_ice',
    'dtls_off',
  ],
  smpp_addresses: [
    'created_at',
    'version',
    'smpp_address_sid',
    'service_provider_sid',
    'ipv4',
    'port',
    'use_tls',
    'is_primary',
  ],
  smpp_gateways: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'smpp_gateway_sid',
    'voip_carrier_sid',
    'ipv4',
    'port',
    'netmask',
    'is_primary',
    'inbound',
    'outbound',
    'use_tls',
  ],
  speech_credentials: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'speech_credential_sid',
    'vendor',
    'label',
    'settings',
    'use_for_tts',
    'use_for_stt',
    'last_used',
    'last_tested',
    'tts_tested_ok',
    'stt_tested_ok',
  ],
  system_information: [
    'created_at',
    'version',
    'system_information_sid',
    'domain_name',
    'sip_domain_name',
    'monitoring_domain_name',
    'private_network_cidr',
    'log_level',
  ],
  unrecorded_calls: ['call_sid', 'ended_at'],
  user_sessions: ['created_at', 'version', 'user_session_sid', 'user_sid', 'expires_at'],
  users: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'user_sid',
    'name',
    'email',
    'pending_email',
    'phone',
    'hashed_password',
    'provider',
    'provider_userid',
    'permissions',
    'is_active',
    'force_change',
    'email_validated',
    'phone_validated',
    'email_content_opt_out',
  ],
  voip_carriers: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'voip_carrier_sid',
    'name',
    'description',
    'application_sid',
    'e164_leading_plus',
    'requires_register',
    'register_username',
    'register_sip_realm',
    'register_password',
    'register_from_user',
    'register_from_domain',
    'register_public_ip_in_contact',
    'register_status',
    'tech_prefix',
    'inbound_auth_username',
    'inbound_auth_password',
    'diversion',
    'is_active',
    'smpp_system_id',
    'smpp_password',
    'smpp_inbound_system_id',
    'smpp_inbound_password',
    'smpp_enquire_link_interval',
    'dtmf_type',
    'outbound_sip_proxy',
    'trunk_type',
  ],
  webhooks: [
    'created_at',
    'version',
    'account_sid',
    'service_provider_sid',
    'webhook_sid',
    'url',
    'method',
    'username',
    'password',
  ],
}
