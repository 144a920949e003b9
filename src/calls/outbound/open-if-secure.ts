// The connection to a place over TLS, before an INVITE goes there.
import { AppError } from '../../lib/errors.ts'
import type { Remote } from '../../sip/sip.ts'
import type { CallServices } from '../call-services.ts'

/** Throws what is none. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

/** Over TLS the connection is opened first: a certificate that is not believed is then the reason of the refusal. */
export async function openIfSecure(
  remote: Remote,
  { sip, clock }: Pick<CallServices, 'sip' | 'clock'>,
  patienceMs: number | undefined,
): Promise<AppError | undefined> {
  if (remote.name === undefined) return undefined
  const opened = sip()
    .open(remote)
    .then(() => undefined, asAppError)
  if (patienceMs === undefined) return opened
  const late = new AppError('sip_unreachable', 'the far end cannot be reached over TLS in time')
  const { promise, resolve } = Promise.withResolvers<AppError>()
  const timer = clock.after(patienceMs, () => resolve(late))
  return Promise.race([opened, promise]).finally(() => timer.cancel())
}
