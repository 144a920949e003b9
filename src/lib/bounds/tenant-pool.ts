// A pool that all tenants share, such as calls, bytes or places in a line. No tenant may take all of it.
import { AppError } from '../errors.ts'
import { isWithinShare, Shares } from './shares.ts'

/** The most of a pool that one tenant may take while no other takes any, in percent. 100 means everything. */
export const defaultSharePercent = 80

/**
 * Returns the share of `lib/bounds/shares.ts`: the multiple of the free units that a single tenant may hold to get `percent`
 * of the pool.
 */
function shareOf(percent: number): number {
  return percent / (100 - percent)
}

export interface PoolUse {
  readonly size: number
  /** The units of all tenants together. */
  readonly used: number
  /** The units of the tenant that takes one more. */
  readonly held: number
  readonly percent: number
}

/** Decides about a pool that is counted elsewhere. */
export function mayTakeOne({ size, used, held, percent }: PoolUse): boolean {
  return isWithinShare({ free: size - used, held, units: 1, share: shareOf(percent) })
}

export interface TenantPoolOptions {
  readonly size: number
  readonly percent?: number | undefined
  /** The beginning of a refusal's message: `too many ... are running`. */
  readonly tooMany: string
}

export class TenantPool {
  readonly #pool: Shares
  readonly #options: TenantPoolOptions
  readonly #share: number

  constructor(options: TenantPoolOptions) {
    this.#options = options
    this.#pool = new Shares(options.size)
    this.#share = shareOf(options.percent ?? defaultSharePercent)
  }

  /**
   * Takes units. An undefined tenant is the platform itself, which has no share. Throws AppError overloaded if fewer
   * units are left, account_share if the rest is for others.
   */
  take(tenant: string | undefined, units: number): void {
    const { size, tooMany } = this.#options
    if (this.#pool.used + units > size) throw new AppError('overloaded', tooMany)
    if (tenant !== undefined && !this.#pool.mayTake(tenant, this.#share, units))
      throw new AppError('account_share', `${tooMany} for this account`)
    this.#pool.take(tenant ?? platform, units)
  }

  give(tenant: string | undefined, units: number): void {
    this.#pool.give(tenant ?? platform, units)
  }
}

/** No tenant has this name. */
const platform = ''
