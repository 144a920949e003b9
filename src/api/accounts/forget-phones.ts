// Removes the phones of an account that loses its realm or is switched off: they are registered in the realm, and the
// account that gets it next must neither see nor reach them.
import type { Services } from '../services.ts'

export async function forgetPhones(
  realm: string | null,
  { bindings }: Pick<Services, 'bindings'>,
): Promise<void> {
  if (realm !== null) await bindings.forget(realm)
}
