// The phones of an account are registered in its realm. When the account loses the realm, or is switched off, they are
// not its phones any more: whoever gets the realm next shall neither see nor reach them.
import type { Services } from '../services.ts'

export async function forgetPhones(
  realm: string | null,
  { bindings }: Pick<Services, 'bindings'>,
): Promise<void> {
  if (realm !== null) await bindings.forget(realm)
}
