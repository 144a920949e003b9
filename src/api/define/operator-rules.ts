// Restrictions of the operator on the accounts of a platform. Settings turn each of them on or off.
import { AppError } from '../../lib/errors.ts'
import { isPublished, publishedFault } from '../../lib/published-secrets.ts'
import type { TableName } from '../../storage/storage.ts'
import type { OperatorRules } from '../services.ts'
import type { RecordContext } from './request.ts'
import { repositoryOf } from './rows.ts'

export const noOperatorRules: OperatorRules = {
  hasQuotas: false,
  reservesCarriers: false,
  minNetmask: 1,
  minSipPassword: 1,
  refusesPublished: false,
  refusesUnknownFields: false,
}

/** Throws bad_request. Call it before a password is stored that phones or carriers authenticate with. */
export function demandSipPassword(
  field: string,
  password: string,
  { rules }: Pick<RecordContext['services'], 'rules'>,
): void {
  if (password.length < rules.minSipPassword)
    throw new AppError(
      'bad_request',
      `${field} must have at least ${rules.minSipPassword} characters, which SWITCHHOOK_MIN_SIP_PASSWORD of the platform says`,
    )
  demandUnpublished(field, password, { rules })
}

/** Throws bad_request. Call it before a secret is stored whose form others determine. */
export function demandUnpublished(
  field: string,
  secret: string,
  { rules }: Pick<RecordContext['services'], 'rules'>,
): void {
  if (rules.refusesPublished && isPublished(secret))
    throw new AppError('bad_request', `${field} ${publishedFault}`)
}

// Far more than a customer needs; they bound what one key can fill.
const quotas: { readonly [T in TableName]?: number } = {
  api_keys: 100,
  applications: 500,
  phone_numbers: 5000,
  sip_gateways: 500,
  speech_credentials: 50,
  voip_carriers: 100,
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
