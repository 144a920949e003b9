// The user at the far end of a leg. The dialog accepts requests of this user only, and the journal notes those
// that come from elsewhere.
import type { DialogUser, SipUser } from '../../sip/sip.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'

interface Surroundings {
  readonly journal: Pick<JournalWriter, 'note'>
  readonly needs: { readonly isSipProxy: (address: string) => boolean }
}

const users = new WeakMap<object, string>()

/** Returns the name of the user at the far end of the leg with this journal, or undefined if it is not a user. */
export function userWith(journal: Pick<JournalWriter, 'note'>): string | undefined {
  return users.get(journal)
}

export function dialogUser(
  { username, realm, place }: Pick<SipUser, 'username' | 'realm'> & Pick<DialogUser, 'place'>,
  { journal, needs }: Surroundings,
): DialogUser {
  users.set(journal, username)
  return {
    username,
    realm,
    place,
    isTrusted: needs.isSipProxy,
    noted: (sentence) => journal.note({ type: 'note', sentence }),
  }
}
