// The columns of every table as rows in memory. Generated from the migrations by `npm run docs`: edit a migration, or
// scripts/reference/column-types.ts where a column holds fewer values than its type in the database.
// Columns ending in _sid are ids; times are epoch ms; flags are 0 or 1; JSON travels as text. `version` starts at 1 and
// rises with every update. Which rows a caller may touch, and which columns are secrets, stands in descriptors.ts.

type Flag = 0 | 1

/** The tables that a repository reads and writes. */
export interface Tables {
  readonly accounts: {
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
  readonly api_keys: {
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
  readonly applications: {
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
  readonly call_defences: {
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
  readonly carrier_hosts: {
    readonly created_at: number
    readonly version: number
    readonly carrier_host_sid: string
    readonly account_sid: string
    readonly host: string
    readonly called_at: number
  }
  readonly clients: {
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
  readonly google_custom_voices: {
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
  readonly lcr_carrier_set_entries: {
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
  readonly lcr_routes: {
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
  readonly lcrs: {
    readonly created_at: number
    readonly version: number
    readonly account_sid: string | null
    readonly service_provider_sid: string | null
    readonly lcr_sid: string
    readonly name: string
    readonly is_active: Flag
    readonly default_carrier_set_entry_sid: string | null
  }
  readonly limits: {
    readonly created_at: number
    readonly version: number
    readonly limit_sid: string
    readonly account_sid: string | null
    readonly service_provider_sid: string
    readonly category: string
    readonly quantity: number
  }
  readonly ms_teams_tenants: {
    readonly created_at: number
    readonly version: number
    readonly account_sid: string | null
    readonly service_provider_sid: string | null
    readonly ms_teams_tenant_sid: string
    readonly application_sid: string | null
    readonly tenant_fqdn: string
  }
  readonly password_reset_requests: {
    readonly created_at: number
    readonly version: number
    readonly password_reset_request_sid: string
    readonly email: string
    readonly attempts: number
    readonly due_at: number
  }
  readonly password_resets: {
    readonly created_at: number
    readonly version: number
    readonly password_reset_sid: string
    readonly user_sid: string
    readonly link_hash: string
    readonly expires_at: number
    readonly signed_in_at: number | null
  }
  readonly password_settings: {
    readonly created_at: number
    readonly version: number
    readonly password_settings_sid: string
    readonly min_password_length: number
    readonly require_digit: Flag
    readonly require_special_character: Flag
  }
  readonly phone_numbers: {
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
  readonly sbc_addresses: {
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
  readonly service_providers: {
    readonly created_at: number
    readonly version: number
    readonly service_provider_sid: string
    readonly name: string
    readonly description: string | null
    readonly root_domain: string | null
    readonly ms_teams_fqdn: string | null
    readonly registration_hook_sid: string | null
  }
  readonly settings: {
    readonly created_at: number
    readonly version: number
    readonly name: string
    readonly value: string
  }
  readonly sip_gateways: {
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
  readonly smpp_addresses: {
    readonly created_at: number
    readonly version: number
    readonly smpp_address_sid: string
    readonly service_provider_sid: string | null
    readonly ipv4: string
    readonly port: number
    readonly use_tls: Flag
    readonly is_primary: Flag
  }
  readonly smpp_gateways: {
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
  readonly speech_credentials: {
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
  readonly system_information: {
    readonly created_at: number
    readonly version: number
    readonly system_information_sid: string
    readonly domain_name: string | null
    readonly sip_domain_name: string | null
    readonly monitoring_domain_name: string | null
    readonly private_network_cidr: string | null
    readonly log_level: string
  }
  readonly user_sessions: {
    readonly created_at: number
    readonly version: number
    readonly user_session_sid: string
    readonly user_sid: string
    readonly expires_at: number
  }
  readonly users: {
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
  readonly voip_carriers: {
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
    readonly send_user_phone: Flag
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
  readonly webhooks: {
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
}

/** Every table: those of the repositories, and those that have a store of their own. */
export interface Schema extends Tables {
  readonly alerts: {
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
  readonly audit_head: {
    readonly id: number
    readonly seq: number
    readonly hash: string
    readonly seal: string
  }
  readonly audit_log: {
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
    readonly unknown_fields: string | null
    readonly previous_hash: string
    readonly hash: string
  }
  readonly call_journal: {
    readonly call_sid: string
    readonly first_seq: number
    readonly account_sid: string
    readonly events: string
    readonly created_at: number
  }
  readonly carrier_registrations: {
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
  readonly delivery_log: {
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
  readonly idempotency_keys: {
    readonly principal: string
    readonly key: string
    readonly route: string
    readonly fingerprint: string
    readonly status: number
    readonly response: string | null
    readonly created_at: number
    readonly expires_at: number
  }
  readonly nodes: {
    readonly node_id: string
    readonly place: string | null
    readonly beats: number
    readonly alive_at: number | null
  }
  readonly open_calls: {
    readonly call_sid: string
    readonly account_sid: string
    readonly created_at: number
    readonly node_id: string
    readonly dialog: string | null
    readonly alive_at: number | null
  }
  readonly outbox: {
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
  readonly outdial_usage: {
    readonly account_sid: string
    readonly node_id: string
    readonly minute: number
    readonly calls_in_minute: number
    readonly day: number
    readonly spoken_ms: number
    readonly live: number
    readonly counted_at: number
  }
  readonly recent_call_counts: {
    readonly owner_sid: string
    readonly span_ms: number
    readonly starts_at: number
    readonly service_provider_sid: string
    readonly inbound_answered: number
    readonly inbound_unanswered: number
    readonly outbound_answered: number
    readonly outbound_unanswered: number
  }
  readonly recent_calls: {
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
    readonly media_failure: string | null
  }
  readonly recordings: {
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
  readonly registrations: {
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
    readonly place: string | null
    readonly call_id: string
    readonly cseq: number
    readonly user_agent: string | null
    readonly expires_at: number
    readonly updated_at: number
  }
  readonly unrecorded_calls: {
    readonly call_sid: string
    readonly ended_at: number
  }
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
