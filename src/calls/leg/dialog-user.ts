// The user at the far end of a leg. The dialog accepts requests of this user only, and the journal notes those
// that come from elsewhere.
import type { DialogUser, SipUser } from '../../sip/sip.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'

interface Surroundings {
  readonly journal: Pick<JournalWriter, 'note'>
  readonly needs: { readonly isSipProxy: (address: string) => boolean }
}

export function dialogUser(
  { username, realm, place }: Pick<SipUser, 'username' | 'realm'> & Pick<DialogUser, 'place'>,
  { journal, needs }: Surroundings,
): DialogUser {
  return {
    username,
    realm,
    place,
    isTrusted: needs.isSipProxy,
    noted: (sentence) => journal.note({ type: 'note', sentence }),
  }
}
