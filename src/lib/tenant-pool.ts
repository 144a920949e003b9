// What all tenants share and each holds some of: calls, bytes, places in a line. None gets so much that nothing stays free.
import { AppError } from './errors.ts'
import { isWithinShare, Shares } from './shares.ts'

/** The most of a pool that one tenant may take while no other takes any, in percent. 100: as much as there is. */
export const defaultSharePercent = 80

/** The share as `lib/shares.ts` counts: how many times what is free one may hold, who alone gets `percent` of the pool. */
function shareOf(percent: number): number {
  return percent / (100 - percent)
}

export interface PoolUse {
  readonly size: number
  /** By all tenants together. */
  readonly used: number
  /** By the one that wants one more. */
  readonly held: number
  readonly percent: number
}

/** For what is counted elsewhere. */
export function mayTakeOne({ size, used, held, percent }: PoolUse): boolean {
  return isWithinShare({ free: size - used, held, units: 1, share: shareOf(percent) })
}

export interface TenantPoolOptions {
  readonly size: number
  readonly percent?: number | undefined
  /** For the sentence of a refusal: `too many ... are running`. */
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
   * An undefined tenant is the platform itself, which has no share. Throws AppError overloaded when there is not so much
   * left, account_share when what is left is for others.
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
