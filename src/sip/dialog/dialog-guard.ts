// The senders allowed within the dialog of a user. Call-ID and tags are not secret: they appear in journals and
// traces. So a request from another place than the user's phone must prove that it is the user's, as a REGISTER and an
// INVITE must.
import { isIP } from 'node:net'
import { toReportedAddress } from '../../network/reported-address.ts'
import { forwardedSource } from '../transport/forwarded-source.ts'
import { isHiddenFrom } from '../transport/hidden-address.ts'
import type { SipMessage, SipRequest } from '../message/message.ts'
import { tryParseUri } from '../message/uri.ts'
import { refusal } from '../refusal.ts'
import type { Authentication } from '../auth/directory.ts'
import type { DialogUser } from '../invites.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { contactUriOf } from './dialog-state.ts'

// Without a limit, a stranger could fill the journal of a call.
const maxNotes = 20

export type ProveUser = (request: SipRequest, remote: Remote, realm: string) => Promise<Authentication>

export class DialogGuard {
  readonly #user: DialogUser
  readonly #noted = new Set<string>()
  #places: ReadonlySet<string> = new Set()
  /** The phone is behind a proxy that has not named its address. */
  #isHidden = false

  /** `message` created the dialog, and came from `source`. */
  constructor(user: DialogUser, message: SipMessage, source: Remote) {
    this.#user = user
    this.#settle(message, source, user.place)
  }

  /**
   * Reports whether the far end signals from there, with any port: ports change with NAT and with each connection.
   * Messages from a proxy of the operator are accepted, unless it names another place than the far end's.
   */
  admits(message: SipMessage, remote: Remote): boolean {
    const source = this.#sourceOf(message, remote)
    if (this.#places.has(source) || this.#user.isTrusted(source)) return true
    return this.#isHidden && source !== remote.address
  }

  /**
   * The same check for an ACK or a CANCEL, which cannot be challenged (RFC 3261 §22.1): one from elsewhere is ignored.
   */
  takes(request: SipRequest, remote: Remote): boolean {
    if (this.admits(request, remote)) return true
    const { method } = request
    this.#note(
      `${method} from ${this.#sourceOf(request, remote)} ignored: ${this.#name} signals from elsewhere`,
    )
    return false
  }

  /** Returns the refusal of a request from elsewhere; undefined if it is the user's, whose place is updated. */
  async refuses({ request, remote }: ServerTransaction, prove: ProveUser): Promise<Reply | undefined> {
    const { username, realm } = this.#user
    const { method } = request
    const address = this.#sourceOf(request, remote)
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
    this.#settle(request, remote)
    return undefined
  }

  #settle(message: SipMessage, remote: Remote, place?: string): void {
    const source = this.#sourceOf(message, remote)
    // A response does not name the address that the proxy received it from.
    const address = place !== undefined && this.#user.isTrusted(source) ? place : source
    this.#places = placesOf(message, address)
    this.#isHidden = this.#user.isTrusted(address)
  }

  #sourceOf(message: SipMessage, { address }: Remote): string {
    return forwardedSource(message, address, this.#user.isTrusted)
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

/**
 * Returns the source of the message, and its Contact for a phone whose proxy does not stay in between for the whole
 * dialog.
 */
function placesOf(message: SipMessage, source: string): ReadonlySet<string> {
  const contact = tryParseUri(contactUriOf(message) ?? '')
  const host = contact === undefined || contact.scheme === 'tel' ? '' : contact.host
  const isPlace = isIP(host) !== 0 && !isHiddenFrom(host, source)
  return new Set(isPlace ? [source, toReportedAddress(host)] : [source])
}
