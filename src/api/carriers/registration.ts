// The fields that a carrier needs for a registration, checked against the record as it will be, whichever route writes
// it.
import { AppError } from '../../lib/errors.ts'

export interface Registration {
  readonly requires_register?: 0 | 1
  readonly register_username?: string | null
  readonly register_password?: string | null
}

export function demandRegistration(carrier: Registration): void {
  if (carrier.requires_register !== 1) return
  for (const field of ['register_username', 'register_password'] as const) {
    if ((carrier[field] ?? '').trim() === '')
      throw new AppError('bad_request', `${field} is required when requires_register is set`)
  }
}
