// Who may speak within a dialog of a user. Call-ID and tags are no secret: they stand in journals and traces. So a request
// that comes from elsewhere than the user's phone must prove that it is the user's, as a REGISTER and an INVITE must.
import { isIP } from 'node:net'
import { isHiddenFrom } from '../hidden-address.ts'
import type { SipMessage, SipRequest } from '../message/message.ts'
import { tryParseUri } from '../message/uri.ts'
import { refusal } from '../refusal.ts'
import type { Authentication, DialogUser, Remote, Reply } from '../sip.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { contactUriOf } from './dialog-state.ts'

// A stranger could have the journal of a call written without end.
const maxNotes = 20

export type ProveUser = (request: SipRequest, remote: Remote, realm: string) => Promise<Authentication>

export class DialogGuard {
  readonly #user: DialogUser
  readonly #noted = new Set<string>()
  #places: ReadonlySet<string>

  /** `message` made the dialog, and came from `source`. */
  constructor(user: DialogUser, message: SipMessage, source: Remote) {
    this.#user = user
    this.#places = placesOf(message, source)
  }

  /** Whether the far end signals from there. Ports change with NAT and with each connection. */
  admits({ address }: Remote): boolean {
    return this.#places.has(address) || this.#user.isTrusted(address)
  }

  /** The same, for an ACK or a CANCEL, which cannot be challenged (RFC 3261 §22.1): one from elsewhere has no effect. */
  takes(method: string, remote: Remote): boolean {
    if (this.admits(remote)) return true
    this.#note(`${method} from ${remote.address} ignored: ${this.#name} signals from elsewhere`)
    return false
  }

  /** What a request from elsewhere is owed; undefined when it is the user's, who is there from now on. */
  async refuses({ request, remote }: ServerTransaction, prove: ProveUser): Promise<Reply | undefined> {
    const { username, realm } = this.#user
    const { method } = request
    const { address } = remote
    const proof = await prove(request, remote, realm.toLowerCase())
    if (proof.verdict === 'challenge') {
      this.#note(`${method} from ${address} challenged: ${this.#name} signals from elsewhere`)
      return proof.reply
    }
    const isUser = proof.verdict === 'accepted' && proof.user.username === username
    if (!isUser || proof.user.peer !== undefined) {
      this.#note(`${method} from ${address} refused: it is not from ${this.#name}`)
      return proof.verdict === 'refused' ? proof.reply : refusal('wrong_credentials', 'Invalid credentials')
    }
    this.#note(`${this.#name} has moved to ${address}, and proved itself there`)
    this.#places = placesOf(request, remote)
    return undefined
  }

  get #name(): string {
    return `${this.#user.username}@${this.#user.realm}`
  }

  #note(sentence: string): void {
    if (this.#noted.has(sentence) || this.#noted.size === maxNotes) return
    this.#noted.add(sentence)
    this.#user.noted(sentence)
  }
}

/** Where the message came from; and its Contact, for a phone whose proxy is not between the two for the whole dialog. */
function placesOf(message: SipMessage, source: Remote): ReadonlySet<string> {
  const contact = tryParseUri(contactUriOf(message) ?? '')
  const host = contact === undefined || contact.scheme === 'tel' ? '' : contact.host
  const isPlace = isIP(host) !== 0 && !isHiddenFrom(host, source.address)
  return new Set(isPlace ? [source.address, host] : [source.address])
}
