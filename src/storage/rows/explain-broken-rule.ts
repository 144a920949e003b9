// The translation of a rule that a row has broken in the database into an error that its writer can act on.
import type { Tenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { BrokenRule, Cells } from '../database/database.ts'

export interface BrokenRow {
  /** The error that the database threw. */
  readonly error: unknown
  readonly table: string
  /** The cells that were to be written. */
  readonly cells: Cells
  /** Whether the provider was looked up from the account, because the writer named only the account. */
  readonly askedForProvider: boolean
  /** The tenancy of the writer. */
  readonly tenancy: Tenancy
}

export function explainBrokenRule(
  broken: BrokenRule,
  { error, table, cells, askedForProvider, tenancy }: BrokenRow,
): AppError {
  const options = { cause: error, detail: { table } }
  if (askedForProvider && isProviderMissing(broken)) {
    return tenancy.level === 'service_provider'
      ? new AppError('not_permitted', 'insufficient permissions', options)
      : new AppError('bad_request', 'account_sid names no existing account', options)
  }
  switch (broken.rule) {
    case 'unique':
      return new AppError('duplicate', `${nameOf(broken.columns)} is already in use`, options)
    case 'not_null':
      return new AppError('bad_request', `${broken.column} is required`, options)
    case 'foreign_key': {
      const names = Object.keys(cells).filter((name) => name.endsWith('_sid'))
      return new AppError('bad_request', `one of ${names.join(', ')} names no existing record`, options)
    }
    case 'check':
      return new AppError('bad_request', 'the owner of the record is incomplete', options)
    case 'value':
      return new AppError('bad_request', 'a value of the record is out of range', options)
  }
}

function isProviderMissing(broken: BrokenRule): boolean {
  return broken.rule === 'check' || (broken.rule === 'not_null' && broken.column === 'service_provider_sid')
}

/** Returns "username" for (account_sid, username): the caller cannot change the owner. */
function nameOf(columns: readonly string[]): string {
  const own = columns.filter((column) => column !== 'account_sid')
  return (own.length > 0 ? own : columns).join(' with ')
}
