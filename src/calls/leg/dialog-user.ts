// The user that a leg belongs to, as the stack holds its dialog to it, and the journal that hears of strangers.
import type { DialogUser, SipUser } from '../../sip/sip.ts'
import type { CallServices } from '../call-services.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'

interface Surroundings {
  readonly journal: Pick<JournalWriter, 'note'>
  readonly services: Pick<CallServices, 'isSipProxy'>
}

const users = new WeakMap<object, string>()

/** The name of the user at the far end of the leg that keeps this journal; undefined where it is no user. */
export function userWith(journal: Pick<JournalWriter, 'note'>): string | undefined {
  return users.get(journal)
}

export function dialogUser(
  { username, realm, place }: Pick<SipUser, 'username' | 'realm'> & Pick<DialogUser, 'place'>,
  { journal, services }: Surroundings,
): DialogUser {
  users.set(journal, username)
  return {
    username,
    realm,
    place,
    isTrusted: services.isSipProxy,
    noted: (sentence) => journal.note({ type: 'note', sentence }),
  }
}
