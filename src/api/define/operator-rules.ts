// Restrictions of the operator on the accounts of a platform. All of them are off unless a setting turns them on.
import { AppError } from '../../lib/errors.ts'
import type { TableName } from '../../storage/storage.ts'
import type { OperatorRules } from '../services.ts'
import type { RecordContext } from './request.ts'
import { repositoryOf } from './rows.ts'

export const noOperatorRules: OperatorRules = { hasQuotas: false, reservesCarriers: false, minNetmask: 1 }

const quotas: { readonly [T in TableName]?: number } = {
  api_keys: 10,
  applications: 50,
  phone_numbers: 200,
  sip_gateways: 150,
  speech_credentials: 10,
  voip_carriers: 10,
}

export function hasQuota(table: TableName): boolean {
  return quotas[table] !== undefined
}

/** Throws quota_reached. Call it before an account gets one more record of its own. */
export async function demandQuota(
  table: TableName,
  { caller, rows, services }: RecordContext,
): Promise<void> {
  const quota = quotas[table]
  const { tenancy } = caller
  if (quota === undefined || tenancy.level !== 'account' || !services.rules.hasQuotas) return
  const { account_sid } = tenancy
  const present = await repositoryOf(rows, table).count({ where: { account_sid } })
  if (present >= quota)
    throw new AppError('quota_reached', `an account may have at most ${quota} ${table.replaceAll('_', ' ')}`)
}

const carrierTables: ReadonlySet<TableName> = new Set([
  'phone_numbers',
  'sip_gateways',
  'smpp_gateways',
  'voip_carriers',
])

/** Throws if the operator reserves the table. Call it before an account changes a record. */
export function demandCarrierRights(
  table: TableName,
  { caller, services }: Pick<RecordContext, 'caller' | 'services'>,
): void {
  if (!carrierTables.has(table)) return
  if (caller.tenancy.level === 'account' && services.rules.reservesCarriers)
    throw new AppError(
      'bad_request',
      'carriers, gateways and phone numbers are managed by the operator of this platform',
    )
}
