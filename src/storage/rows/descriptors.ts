// The properties of each table that a repository needs besides columns: its key, its secrets, who may access its rows.
import type { Tenancy } from '../../contracts/caller.ts'
import { references, type Tables } from '../tables.ts'

type Level = Tenancy['level']

/** `C`: the columns of the table. */
export interface Descriptor<C extends string = string> {
  readonly key: C
  /** Encrypted at rest. */
  readonly secrets?: readonly C[]
  /** Hashes of secrets. They leave storage for comparison only and appear nowhere else, not even in the audit log. */
  readonly hashes?: readonly C[]
  /** Traces of use, such as the time of the last one: the audit log leaves these columns out. */
  readonly unaudited?: readonly C[]
  /** Set if the rows are work in progress, which the audit log leaves out. */
  readonly isTransient?: boolean
  /** The columns that name the owner of a row. A table with neither belongs to the platform. */
  readonly owner: readonly C[]
  /**
   * The reference to the row whose owner is also the owner of this one, for a table without owner columns. Only the
   * audit log uses it: it shows its entries to the owner, while the row stays out of reach.
   */
  readonly ownedThrough?: C
  /** Set if rows of a provider, without an account, may also be read by its accounts. */
  readonly isShared?: boolean
  /** The reference to the row that this one is a part of. The writer must own that row, not just see it. */
  readonly parent?: C
  /** The lowest level that may perform each operation, and then only on rows that it owns. */
  readonly minLevel: { readonly [O in Operation]: Level }
}

export type Operation = 'read' | 'insert' | 'update' | 'remove'

const forAll = (level: Level): Record<Operation, Level> => ({
  read: level,
  insert: level,
  update: level,
  remove: level,
})

const byAccount = ['service_provider_sid', 'account_sid'] as const

/** Leaving out a table is a compile error. */
export const descriptors: { readonly [T in keyof Tables]: Descriptor<keyof Tables[T] & string> } = {
  service_providers: {
    key: 'service_provider_sid',
    owner: ['service_provider_sid'],
    minLevel: { read: 'account', insert: 'admin', update: 'service_provider', remove: 'admin' },
  },
  accounts: {
    key: 'account_sid',
    owner: byAccount,
    secrets: ['webhook_secret', 'bucket_credential'],
    minLevel: { read: 'account', insert: 'service_provider', update: 'account', remove: 'account' },
  },
  webhooks: {
    key: 'webhook_sid',
    owner: byAccount,
    secrets: ['password'],
    minLevel: forAll('account'),
  },
  applications: {
    key: 'application_sid',
    owner: byAccount,
    secrets: ['env_vars'],
    minLevel: forAll('account'),
  },
  clients: {
    key: 'client_sid',
    owner: byAccount,
    secrets: ['password'],
    minLevel: forAll('account'),
  },
  api_keys: {
    key: 'api_key_sid',
    owner: byAccount,
    hashes: ['token_hash'],
    unaudited: ['last_used'],
    minLevel: forAll('account'),
  },
  users: {
    key: 'user_sid',
    owner: byAccount,
    hashes: ['hashed_password'],
    minLevel: forAll('account'),
  },
  user_sessions: {
    key: 'user_session_sid',
    owner: [],
    ownedThrough: 'user_sid',
    minLevel: forAll('system'),
  },
  password_settings: {
    key: 'password_settings_sid',
    owner: [],
    minLevel: { read: 'account', insert: 'admin', update: 'admin', remove: 'admin' },
  },
  settings: {
    key: 'name',
    owner: [],
    secrets: ['value'],
    minLevel: forAll('system'),
  },
  voip_carriers: {
    key: 'voip_carrier_sid',
    owner: byAccount,
    isShared: true,
    secrets: ['register_password', 'inbound_auth_password', 'smpp_password', 'smpp_inbound_password'],
    unaudited: ['register_status'],
    minLevel: forAll('account'),
  },
  sip_gateways: {
    key: 'sip_gateway_sid',
    owner: byAccount,
    isShared: true,
    parent: 'voip_carrier_sid',
    minLevel: forAll('account'),
  },
  smpp_gateways: {
    key: 'smpp_gateway_sid',
    owner: byAccount,
    isShared: true,
    parent: 'voip_carrier_sid',
    minLevel: forAll('account'),
  },
  phone_numbers: {
    key: 'phone_number_sid',
    owner: byAccount,
    minLevel: forAll('account'),
  },
  ms_teams_tenants: {
    key: 'ms_teams_tenant_sid',
    owner: byAccount,
    minLevel: forAll('account'),
  },
  lcrs: {
    key: 'lcr_sid',
    owner: byAccount,
    minLevel: forAll('account'),
  },
  lcr_routes: {
    key: 'lcr_route_sid',
    owner: byAccount,
    parent: 'lcr_sid',
    minLevel: forAll('account'),
  },
  lcr_carrier_set_entries: {
    key: 'lcr_carrier_set_entry_sid',
    owner: byAccount,
    parent: 'lcr_route_sid',
    minLevel: forAll('account'),
  },
  limits: {
    key: 'limit_sid',
    owner: byAccount,
    // An account reads its limits, and its provider or an admin sets them.
    minLevel: { ...forAll('service_provider'), read: 'account' },
  },
  call_defences: {
    key: 'call_defence_sid',
    owner: byAccount,
    // The defence that a provider has set binds its accounts, which may read it.
    isShared: true,
    minLevel: forAll('account'),
  },
  password_resets: {
    key: 'password_reset_sid',
    owner: [],
    ownedThrough: 'user_sid',
    hashes: ['link_hash'],
    minLevel: forAll('system'),
  },
  password_reset_requests: {
    key: 'password_reset_request_sid',
    owner: [],
    isTransient: true,
    minLevel: forAll('system'),
  },
  carrier_hosts: {
    key: 'carrier_host_sid',
    owner: [],
    isTransient: true,
    minLevel: forAll('system'),
  },
  sbc_addresses: {
    key: 'sbc_address_sid',
    owner: ['service_provider_sid'],
    minLevel: { ...forAll('admin'), read: 'account' },
  },
  smpp_addresses: {
    key: 'smpp_address_sid',
    owner: ['service_provider_sid'],
    minLevel: { ...forAll('admin'), read: 'account' },
  },
  system_information: {
    key: 'system_information_sid',
    owner: [],
    minLevel: forAll('admin'),
  },
  speech_credentials: {
    key: 'speech_credential_sid',
    owner: byAccount,
    isShared: true,
    secrets: ['settings'],
    unaudited: ['last_used', 'last_tested', 'tts_tested_ok', 'stt_tested_ok'],
    minLevel: forAll('account'),
  },
  google_custom_voices: {
    key: 'google_custom_voice_sid',
    owner: byAccount,
    isShared: true,
    parent: 'speech_credential_sid',
    secrets: ['voice_cloning_key'],
    minLevel: forAll('account'),
  },
}

const ranks: Readonly<Record<Level, number>> = { account: 0, service_provider: 1, admin: 2, system: 3 }

export function isAtLeast(level: Level, minLevel: Level): boolean {
  return ranks[level] >= ranks[minLevel]
}

/** A descriptor with defaults for all that was left out, as the generic code uses it. */
export interface AnyDescriptor extends Required<Omit<Descriptor, 'ownedThrough' | 'parent'>> {
  readonly parent?: string
  readonly ownedThrough: Pointer | undefined
  /** Columns that point at rows of other tables. The writer must be able to see the row that it points at. */
  readonly references: readonly Pointer[]
}

interface Pointer {
  readonly column: string
  readonly table: keyof Tables
}

const plain = { secrets: [], hashes: [], unaudited: [], isTransient: false, isShared: false } as const

export function descriptorOf(table: keyof Tables): AnyDescriptor {
  const { ownedThrough, ...descriptor }: Descriptor = descriptors[table]
  const pointing: Readonly<Record<string, keyof Tables>> = references[table] ?? {}
  const pointers = Object.entries(pointing).map(([column, target]) => ({ column, table: target }))
  return {
    ...plain,
    ...descriptor,
    ownedThrough: pointers.find(({ column }) => column === ownedThrough),
    references: pointers,
  }
}
