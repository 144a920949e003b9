// The DNS records of a realm. They change before the account does, so that a stored realm always works.
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { Services } from '../services.ts'
import type { Undo } from '../define/undo.ts'

type Needs = Pick<Services, 'realms' | 'storage' | 'log'>

/**
 * Moves the records. Throws duplicate if another account has the realm, dns_update_failed if the name server refuses.
 * The undo is for an account that could not follow: another one got the realm meanwhile, or the change was refused.
 */
export async function moveRealm(from: string | null, to: string, needs: Needs): Promise<Undo> {
  const { realms, storage } = needs
  const isTaken = from !== to && (await isInUse(to, storage))
  if (isTaken) throw new AppError('duplicate', 'sip_realm is already in use')
  await realms.move(from ?? undefined, to)
  return () => moveBack(from, to, needs)
}

async function moveBack(from: string | null, to: string, needs: Needs): Promise<void> {
  const { realms, storage, log } = needs
  try {
    // Another account has the realm now and needs its records.
    const isTaken = await isInUse(to, storage)
    if (from !== null) await realms.move(isTaken ? undefined : to, from)
    else if (!isTaken) await realms.remove(to)
  } catch (error) {
    log.error({ err: error, realm: to }, 'records of a realm are not those that are stored')
  }
}

/**
 * Removes the records of an account that is gone. Records that stay on a failure lead nowhere; the operator removes
 * them.
 */
export async function removeRealm(
  realm: string | null,
  { realms, log }: Pick<Services, 'realms' | 'log'>,
): Promise<void> {
  if (realm === null) return
  try {
    await realms.remove(realm)
  } catch (error) {
    log.error({ err: error, realm }, 'records of a removed realm are still there')
  }
}

async function isInUse(sip_realm: string, storage: Services['storage']): Promise<boolean> {
  return (await storage.for(systemTenancy).accounts.count({ where: { sip_realm } })) > 0
}
