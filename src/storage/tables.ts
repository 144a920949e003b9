// The columns of every table as rows in memory. Columns ending in _sid are ids; times are epoch ms; flags are 0 or 1;
// JSON travels as text. `version` starts at 1 and the repository raises it with every update.
// Who may touch which rows, and which columns are secrets, stands in descriptors.ts.

type Flag = 0 | 1

interface Versioned {
  readonly created_at: number
  readonly version: number
}

/** The owner of a tenant's row. The repository fills in service_provider_sid wherever account_sid is given. */
interface OwnedByAccount {
  readonly account_sid: string
  readonly service_provider_sid: string
}

/** No account: the provider's own. Neither: the platform's own. */
interface OwnedAtAnyLevel {
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
}

export interface ServiceProviderRow extends Versioned {
  readonly service_provider_sid: string
  readonly name: string
  readonly description: string | null
  readonly root_domain: string | null
  readonly ms_teams_fqdn: string | null
  readonly registration_hook_sid: string | null
}

export interface AccountRow extends Versioned, OwnedByAccount {
  readonly name: string
  /** Lower case. */
  readonly sip_realm: string | null
  readonly registration_hook_sid: string | null
  readonly queue_event_hook_sid: string | null
  readonly device_calling_application_sid: string | null
  /** An application, in spite of its name. */
  readonly siprec_hook_sid: string | null
  readonly is_active: Flag
  readonly plan_type: string
  /** Encrypted at rest. */
  readonly webhook_secret: string
  readonly disable_cdrs: Flag
  readonly ringing_after_ms: number | null
  readonly sensitive_digits: Flag
  readonly record_all_calls: Flag
  readonly record_format: string
  /** JSON text, encrypted at rest. */
  readonly bucket_credential: string | null
  readonly enable_debug_log: Flag
  readonly device_to_call_ratio: number
  readonly trial_end_date: number | null
  readonly deactivated_reason: string | null
}

export interface WebhookRow extends Versioned, OwnedAtAnyLevel {
  readonly webhook_sid: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly username: string | null
  /** Encrypted at rest. */
  readonly password: string | null
}

export interface ApplicationRow extends Versioned, OwnedByAccount {
  readonly application_sid: string
  readonly name: string
  readonly call_hook_sid: string | null
  readonly call_status_hook_sid: string | null
  readonly messaging_hook_sid: string | null
  /** JSON text of a verb array. */
  readonly app_json: string | null
  readonly speech_synthesis_vendor: string | null
  readonly speech_synthesis_language: string | null
  readonly speech_synthesis_voice: string | null
  readonly speech_synthesis_label: string | null
  readonly speech_recognizer_vendor: string | null
  readonly speech_recognizer_language: string | null
  readonly speech_recognizer_label: string | null
  readonly use_for_fallback_speech: Flag
  readonly fallback_speech_synthesis_vendor: string | null
  readonly fallback_speech_synthesis_language: string | null
  readonly fallback_speech_synthesis_voice: string | null
  readonly fallback_speech_synthesis_label: string | null
  readonly fallback_speech_recognizer_vendor: string | null
  readonly fallback_speech_recognizer_language: string | null
  readonly fallback_speech_recognizer_label: string | null
  readonly record_all_calls: Flag
  /** JSON text, encrypted at rest. */
  readonly env_vars: string | null
}

export interface ClientRow extends Versioned, OwnedByAccount {
  readonly client_sid: string
  readonly username: string
  /** Encrypted at rest; digest authentication needs it in clear. */
  readonly password: string
  readonly is_active: Flag
  readonly allow_direct_app_calling: Flag
  readonly allow_direct_queue_calling: Flag
  readonly allow_direct_user_calling: Flag
}

export interface ApiKeyRow extends Versioned, OwnedAtAnyLevel {
  readonly api_key_sid: string
  /** `hashApiKey` of the token, which itself is never stored. */
  readonly token_hash: string
  /** To show in lists. */
  readonly token_prefix: string
  readonly expires_at: number | null
  readonly last_used: number | null
}

export interface UserRow extends Versioned, OwnedAtAnyLevel {
  readonly user_sid: string
  readonly name: string
  readonly email: string
  readonly pending_email: string | null
  readonly phone: string | null
  /** A PHC string of lib/password.ts; null for users of another identity provider. */
  readonly hashed_password: string | null
  readonly provider: string
  readonly provider_userid: string | null
  /** JSON text: an array of VIEW_ONLY, PROVISION_SERVICES, PROVISION_USERS. */
  readonly permissions: string
  readonly is_active: Flag
  readonly force_change: Flag
  readonly email_validated: Flag
  readonly phone_validated: Flag
  readonly email_content_opt_out: Flag
}

/** One per login; a token whose session row is gone is refused. */
export interface UserSessionRow extends Versioned {
  readonly user_session_sid: string
  readonly user_sid: string
  readonly expires_at: number
}

/** One row, whose id is 'default'. */
export interface PasswordSettingsRow extends Versioned {
  readonly password_settings_sid: string
  readonly min_password_length: number
  readonly require_digit: Flag
  readonly require_special_character: Flag
}

/** What the platform itself must remember, such as the secret that signs login tokens. */
export interface SettingRow extends Versioned {
  readonly name: string
  /** Encrypted at rest. */
  readonly value: string
}

/** At most so many of something at one time; one row per category. Without an account it binds the whole provider. */
export interface LimitRow extends Versioned {
  readonly limit_sid: string
  readonly account_sid: string | null
  readonly service_provider_sid: string
  readonly category: string
  readonly quantity: number
}

/** A link that was mailed to a user who forgot the password. */
export interface PasswordResetRow extends Versioned {
  readonly password_reset_sid: string
  readonly user_sid: string
  /** SHA-256 of the link; the link itself is never stored. */
  readonly link_hash: string
  readonly expires_at: number
  /** When it was exchanged for a session, which it is once. */
  readonly signed_in_at: number | null
}

/** Somebody wants such a link: looked up and mailed after the request is answered, tried again while mail fails. */
export interface PasswordResetRequestRow extends Versioned {
  readonly password_reset_request_sid: string
  /** As it was given; most likely somebody's. */
  readonly email: string
  /** Mails that were tried before. */
  readonly attempts: number
  readonly due_at: number
}

/** A host name by which a carrier has called us with a call of the account. */
export interface CarrierHostRow extends Versioned {
  readonly carrier_host_sid: string
  readonly account_sid: string
  /** Lower case. */
  readonly host: string
  /** The latest call, as far as it was written down. */
  readonly called_at: number
}

/** Where carriers reach us. Without a provider: every provider that has none of its own. */
export interface SbcAddressRow extends Versioned {
  readonly sbc_address_sid: string
  readonly service_provider_sid: string | null
  readonly ipv4: string
  readonly port: number
  readonly tls_port: number | null
  readonly wss_port: number | null
  readonly last_updated: number | null
}

export interface SmppAddressRow extends Versioned {
  readonly smpp_address_sid: string
  readonly service_provider_sid: string | null
  readonly ipv4: string
  readonly port: number
  readonly use_tls: Flag
  readonly is_primary: Flag
}

/** One row, whose id is 'default'. */
export interface SystemInformationRow extends Versioned {
  readonly system_information_sid: string
  readonly domain_name: string | null
  readonly sip_domain_name: string | null
  readonly monitoring_domain_name: string | null
  readonly private_network_cidr: string | null
  readonly log_level: string
}

/** Something a person should know of. Written by whoever met it, never changed. */
export interface AlertRow {
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

/** Without an account it serves every account of its provider. */
export interface VoipCarrierRow extends Versioned, OwnedAtAnyLevel {
  readonly voip_carrier_sid: string
  readonly name: string
  readonly description: string | null
  readonly application_sid: string | null
  readonly e164_leading_plus: Flag
  readonly requires_register: Flag
  readonly register_username: string | null
  readonly register_sip_realm: string | null
  /** Encrypted at rest, as every password of a carrier. */
  readonly register_password: string | null
  readonly register_from_user: string | null
  readonly register_from_domain: string | null
  readonly register_public_ip_in_contact: Flag
  /** JSON text: how the last registration went. */
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

/** Owned as its carrier is. */
export interface SipGatewayRow extends Versioned, OwnedAtAnyLevel {
  readonly sip_gateway_sid: string
  readonly voip_carrier_sid: string
  /** An address or, for outbound calls only, a host name. */
  readonly ipv4: string
  /** Null: found by the SRV records of the host name. */
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

/** Owned as its carrier is. */
export interface SmppGatewayRow extends Versioned, OwnedAtAnyLevel {
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

export interface PhoneNumberRow extends Versioned, OwnedAtAnyLevel {
  readonly phone_number_sid: string
  /** Without a leading plus: what calls are matched with. */
  readonly number: string
  /** As it was sent. */
  readonly received_number: string
  /** With the plus, when it was sent with one; a bare number may be a national one. */
  readonly e164_number: string | null
  /** 1: `number` has characters other than digits, and stands for every number it matches. */
  readonly is_pattern: Flag
  readonly voip_carrier_sid: string | null
  readonly application_sid: string | null
}

export interface MsTeamsTenantRow extends Versioned, OwnedAtAnyLevel {
  readonly ms_teams_tenant_sid: string
  readonly application_sid: string | null
  /** Lower case. */
  readonly tenant_fqdn: string
}

/** A table of least cost routing; an account has at most one, a provider one of its own. */
export interface LcrRow extends Versioned, OwnedAtAnyLevel {
  readonly lcr_sid: string
  readonly name: string
  readonly is_active: Flag
  readonly default_carrier_set_entry_sid: string | null
}

/** Owned as its table is. */
export interface LcrRouteRow extends Versioned, OwnedAtAnyLevel {
  readonly lcr_route_sid: string
  readonly lcr_sid: string
  readonly regex: string
  readonly description: string | null
  /** The lowest is tried first. */
  readonly priority: number
}

/** Owned as its table is. */
export interface LcrCarrierSetEntryRow extends Versioned, OwnedAtAnyLevel {
  readonly lcr_carrier_set_entry_sid: string
  readonly lcr_route_sid: string
  readonly voip_carrier_sid: string
  /** Its share of the calls among the entries of one priority. */
  readonly workload: number
  readonly priority: number
}

/** Written by the call engine, never changed. */
export interface RecentCallRow extends OwnedByAccount {
  readonly call_sid: string
  readonly application_sid: string | null
  readonly sip_call_id: string
  readonly sip_parent_call_id: string | null
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
}

/**
 * How many call records of an owner, an account or a provider, were attempted from `starts_at` on for `span_ms`: an hour
 * or a day of UTC. Triggers keep them; the sums of the hours, the days and the records are the same.
 */
export interface RecentCallCountRow {
  readonly owner_sid: string
  readonly span_ms: number
  readonly starts_at: number
  readonly service_provider_sid: string
  readonly inbound_answered: number
  readonly inbound_unanswered: number
  readonly outbound_answered: number
  readonly outbound_unanswered: number
}

export interface RecentCallTrunkCountRow extends RecentCallCountRow {
  readonly trunk: string
}

/** A run of journal events of one call, in the order they happened. */
export interface CallJournalRow {
  readonly call_sid: string
  readonly first_seq: number
  readonly account_sid: string
  /** JSON text: an array of events. */
  readonly events: string
  readonly created_at: number
}

/** Calls that have a journal and no end yet: what a killed process leaves behind. */
export interface OpenCallRow {
  readonly call_sid: string
  readonly account_sid: string
  readonly created_at: number
  /** Whose call it is. Empty when it was written by a version that had no nodes. */
  readonly node_id: string
}

/** A process that serves calls, from its start to its end. */
export interface NodeRow {
  /** A new one at each start. */
  readonly node_id: string
  /** What only one process can hold at a time (node-place.ts); null when it holds none. */
  readonly place: string | null
  /** Rises while the process lives. */
  readonly beats: number
}

/** A call that ended without a record, as its account wants it: how old its journal is. */
export interface UnrecordedCallRow {
  readonly call_sid: string
  readonly ended_at: number
}

/** A notification that waits for delivery. */
export interface OutboxRow {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  /** 1, 2, 3 ... within the call. */
  readonly sequence: number
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly username: string | null
  /** Encrypted at rest. */
  readonly password: string | null
  readonly payload: string
  /** Deliveries tried so far. */
  readonly attempts: number
  /** When it may be delivered, or when its lease ends; null while an earlier one of the same call is unsettled. */
  readonly due_at: number | null
  readonly created_at: number
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

/** One change of one record. Never changed itself. */
export interface AuditEntryRow {
  /** 1, 2, 3 ... without a gap. */
  readonly seq: number
  readonly at: number
  readonly actor_kind: 'api_key' | 'user' | 'anonymous' | 'platform'
  readonly actor_sid: string | null
  readonly actor_name: string | null
  /** Where the request came from. */
  readonly address: string | null
  readonly request_id: string | null
  readonly service_provider_sid: string | null
  readonly account_sid: string | null
  readonly action: 'create' | 'update' | 'delete'
  /** The table of the record, and its key there. */
  readonly resource: string
  readonly sid: string
  /** JSON text of the columns that changed, as they were and as they are; secrets are masked. */
  readonly before: string | null
  readonly after: string | null
  readonly previous_hash: string
  /** Of everything above, with the hash of the entry before. */
  readonly hash: string
}

/** One row: where the chain of the audit log ends, sealed with the platform's key. */
export interface AuditHeadRow {
  readonly id: number
  readonly seq: number
  readonly hash: string
  readonly seal: string
}

/** An answer that is given again when its request is repeated. */
export interface IdempotencyKeyRow {
  /** Who asked. */
  readonly principal: string
  readonly key: string
  readonly route: string
  /** Tells requests apart without holding what they said. */
  readonly fingerprint: string
  readonly status: number
  /** JSON text, encrypted at rest; null when the answer has no body. */
  readonly response: string | null
  readonly created_at: number
  readonly expires_at: number
}

export interface SpeechCredentialRow extends Versioned, OwnedAtAnyLevel {
  readonly speech_credential_sid: string
  /** `google`, `custom:mine` ... */
  readonly vendor: string
  readonly label: string | null
  /** JSON text of the fields its vendor has, encrypted at rest. */
  readonly settings: string
  readonly use_for_tts: Flag
  readonly use_for_stt: Flag
  readonly last_used: number | null
  readonly last_tested: number | null
  readonly tts_tested_ok: Flag | null
  readonly stt_tested_ok: Flag | null
}

export interface GoogleCustomVoiceRow extends Versioned, OwnedAtAnyLevel {
  readonly google_custom_voice_sid: string
  readonly speech_credential_sid: string
  readonly name: string
  readonly model: string
  readonly reported_usage: string
  /** Encrypted at rest. */
  readonly voice_cloning_key: string | null
  readonly use_voice_cloning_key: Flag
}

/** Where a phone of one node is: RFC 3261 §10. */
export interface RegistrationRow {
  /** The node that it registered with. */
  readonly node: string
  readonly aor: string
  /** Tells it apart from other phones of the address of record. */
  readonly key: string
  readonly account_sid: string
  /** Null for a user who is no client. */
  readonly client_sid: string | null
  readonly username: string
  /** Lower case. */
  readonly realm: string
  readonly contact: string
  readonly instance: string | null
  readonly q: string | null
  /** JSON text: the values of Path. */
  readonly path: string
  /** Where it registered from. */
  readonly transport: string
  readonly address: string
  readonly port: number
  readonly call_id: string
  readonly cseq: number
  readonly user_agent: string | null
  readonly expires_at: number
  readonly updated_at: number
}

/** The tables that a repository reads and writes. */
export interface Tables {
  readonly service_providers: ServiceProviderRow
  readonly accounts: AccountRow
  readonly webhooks: WebhookRow
  readonly applications: ApplicationRow
  readonly clients: ClientRow
  readonly api_keys: ApiKeyRow
  readonly users: UserRow
  readonly user_sessions: UserSessionRow
  readonly password_settings: PasswordSettingsRow
  readonly settings: SettingRow
  readonly voip_carriers: VoipCarrierRow
  readonly sip_gateways: SipGatewayRow
  readonly smpp_gateways: SmppGatewayRow
  readonly phone_numbers: PhoneNumberRow
  readonly ms_teams_tenants: MsTeamsTenantRow
  readonly lcrs: LcrRow
  readonly lcr_routes: LcrRouteRow
  readonly lcr_carrier_set_entries: LcrCarrierSetEntryRow
  readonly limits: LimitRow
  readonly password_resets: PasswordResetRow
  readonly password_reset_requests: PasswordResetRequestRow
  readonly carrier_hosts: CarrierHostRow
  readonly sbc_addresses: SbcAddressRow
  readonly smpp_addresses: SmppAddressRow
  readonly system_information: SystemInformationRow
  readonly speech_credentials: SpeechCredentialRow
  readonly google_custom_voices: GoogleCustomVoiceRow
}

/** Every table: those of the repositories, and those that only the stores of the call engine touch. */
export interface Schema extends Tables {
  readonly recent_calls: RecentCallRow
  readonly recent_call_counts: RecentCallCountRow
  readonly recent_call_counts_by_trunk: RecentCallTrunkCountRow
  readonly call_journal: CallJournalRow
  readonly open_calls: OpenCallRow
  readonly nodes: NodeRow
  readonly unrecorded_calls: UnrecordedCallRow
  readonly registrations: RegistrationRow
  readonly outbox: OutboxRow
  readonly delivery_log: DeliveryLogRow
  readonly audit_log: AuditEntryRow
  readonly audit_head: AuditHeadRow
  readonly idempotency_keys: IdempotencyKeyRow
  readonly alerts: AlertRow
}
