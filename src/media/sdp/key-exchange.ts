// The keys of one leg over its life: the keys offered to each place, the key that answers an offer, and the change of
// keys.
import { randomBytes } from 'node:crypto'
import {
  isSameKey,
  masterBytesOf,
  offeredSuites,
  suites,
  type MasterKey,
  type SuiteName,
} from '../srtp/suites.ts'
import type { SdesProtection } from './agreement.ts'
import type { CryptoLine } from './crypto-lines.ts'
import type { OwnPath } from './path-lines.ts'
import { namedProtection, type Profile } from './profiles.ts'
import type { LocalAudio, MediaSection } from './sdp.ts'

/** The protection offered to a far end that has not answered yet: by keys in SDP, or by keys of a handshake. */
export type OfferedProtection = OfferedKeys | OfferedHandshake

export interface OfferedHandshake {
  /**
   * `browser`: always with ICE. `ice`: with ICE if the far end has it. `no-ice`: between the ports of the media
   * lines.
   */
  readonly dtls: 'browser' | 'ice' | 'no-ice'
}

export interface OfferedKeys {
  /** `required`: encrypted or not at all. `possible`: the far end may choose, in a way that many phones understand. */
  readonly sdes: 'required' | 'possible'
  /** Whether keys have the padding of base64. */
  readonly padsKeys?: boolean
}

/** The protection of our media line. */
export type LocalKeys = Pick<LocalAudio, 'profile' | 'crypto' | 'padsKeys' | 'path' | 'mid'>

export const unprotected: LocalKeys = { profile: 'RTP/AVP', crypto: [] }

export interface AnsweredKeys {
  readonly local: LocalKeys
  readonly protection: SdesProtection | undefined
}

// More places than one call tries.
const maxPlaces = 64

export class KeyExchange {
  /**
   * The keys offered to each place, by a name of its own: all phones of one user may be called at the same time, and
   * from behind one address.
   */
  readonly #offered = new Map<string, LocalKeys>()
  /** The present keys. */
  #agreed: { readonly local: LocalKeys; readonly protection: SdesProtection } | undefined
  /** Our line, if packets use a path. */
  #onPath: LocalKeys | undefined

  /** Whether packets use a path. */
  get isOnPath(): boolean {
    return this.#onPath !== undefined
  }

  /**
   * Returns the first offer to a place, with keys of its own: another place must not be able to decrypt what this one
   * is sent.
   */
  offerTo(place: string, wanted: OfferedKeys | undefined, path?: OwnPath): LocalKeys {
    if (path?.ice === 'alone') return this.#note(place, onPath(path, 'UDP/TLS/RTP/SAVPF', '0'))
    if (path !== undefined) return this.#note(place, onPath(path, 'UDP/TLS/RTP/SAVP', undefined))
    const profile: Profile = wanted?.sdes === 'required' ? 'RTP/SAVP' : 'RTP/AVP'
    const former = this.#offered.get(place)
    const isAgain = former?.profile === profile && former.crypto.length > 0 === (wanted !== undefined)
    const names = wanted === undefined ? [] : offeredSuites
    const local = isAgain
      ? former
      : {
          profile,
          crypto: names.map((suite, index) => ({ tag: index + 1, ...newKey(suite) })),
          padsKeys: wanted?.padsKeys === true,
        }
    return this.#note(place, local)
  }

  #note(place: string, local: LocalKeys): LocalKeys {
    if (this.#offered.size < maxPlaces) this.#offered.set(place, local)
    return local
  }

  /** Returns the keys of a later offer. It repeats the key in use, so that nothing changes (RFC 4568 §7.1.4). */
  offerAgain(): LocalKeys {
    this.#offered.clear()
    return this.#onPath ?? this.#agreed?.local ?? unprotected
  }

  /** Returns the answer to the chosen line of an offer, with our key for it. */
  answer(section: MediaSection, path?: OwnPath): AnsweredKeys {
    this.#offered.clear()
    const profile = section.profile ?? 'RTP/AVP'
    if (path !== undefined) return { local: onPath(path, profile, section.mid), protection: undefined }
    const chosen = this.#choose(section.crypto.usable)
    if (chosen === undefined) return { local: { ...unprotected, profile }, protection: undefined }
    const agreed = this.#agreed?.protection
    const receive = keyOf(chosen)
    // A far end that starts its numbers again expects the same of this side, so our stream changes too, under another
    // key.
    const send =
      agreed !== undefined && isSameKey(agreed.receive, receive)
        ? agreed.send
        : newKey(receive.suite, receive.mki)
    const { isPadded } = section.crypto
    const { tag, name } = chosen
    return {
      local: { profile, crypto: [{ tag, name, ...send }], padsKeys: isPadded },
      protection: { form: 'sdes', send, receive },
    }
  }

  /**
   * Applies the answer to the last offer. Returns undefined for a plain one, and a sentence if it does not fit the
   * offer.
   */
  accept(section: MediaSection, ours: LocalKeys): SdesProtection | string | undefined {
    if (section.path !== undefined || ours.path !== undefined)
      return section.path !== undefined && ours.path !== undefined
        ? undefined
        : 'the answer has another profile than the offer'
    const isRequired = namedProtection(ours.profile) === 'sdes'
    const named = section.protection ?? 'none'
    if (isRequired && named !== 'sdes')
      return 'SRTP was offered, and the far end has answered without any encryption'
    for (const line of section.crypto.usable) {
      const own = ours.crypto.find(({ tag, suite }) => tag === line.tag && suite === line.suite)
      if (own !== undefined) return { form: 'sdes', send: keyOf(own), receive: keyOf(line) }
    }
    if (!isRequired && named === 'none' && section.crypto.others.length + section.crypto.usable.length === 0)
      return undefined
    return isRequired || named === 'sdes'
      ? 'SRTP was offered, and the answer has no key for any of the suites that were offered'
      : 'the answer has a key for a suite that was not offered'
  }

  /** Returns the offer to the place whose answer has come. */
  offeredTo(place: string): LocalKeys | undefined {
    return this.#offered.get(place)
  }

  /** Stores the result of offer and answer. */
  agreed(protection: SdesProtection | undefined, local: LocalKeys, hasIce: boolean): void {
    const { path } = local
    // Either side may have the other role in a later handshake: RFC 8842 §5.5. ICE stays as this exchange decided.
    const ice = hasIce && path?.ice !== 'none' ? 'alone' : 'none'
    this.#onPath = path && { ...local, path: { ...path, setup: 'actpass', ice } }
    if (protection === undefined) {
      this.#agreed = undefined
      return
    }
    const { send } = protection
    const { tag = 1, name } = local.crypto.find((line) => isSameKey(line, send)) ?? {}
    this.#agreed = { protection, local: { ...local, crypto: [{ tag, name, ...send }] } }
  }

  /**
   * Prefers the key in use, then a suite in counter mode with a long tag, best without an MKI, since AES-GCM costs
   * more, then any with a long tag, then the far end's own order.
   */
  #choose(lines: readonly CryptoLine[]): CryptoLine | undefined {
    const inUse = this.#agreed?.protection.receive
    return (
      lines.find((line) => inUse !== undefined && isSameKey(line, inUse)) ??
      lines.find(({ suite, mki }) => suites[suite].tagBytes === 10 && mki === undefined) ??
      lines.find(({ suite }) => suites[suite].tagBytes === 10) ??
      lines.find(({ suite }) => suites[suite].tagBytes > 10) ??
      lines[0]
    )
  }
}

function onPath(path: OwnPath, profile: Profile, mid: string | undefined): LocalKeys {
  return { profile, crypto: [], path, ...(mid === undefined ? {} : { mid }) }
}

function keyOf({ suite, key, mki }: MasterKey): MasterKey {
  return { suite, key, ...(mki === undefined ? {} : { mki }) }
}

/** Returns a key with the same MKI as the far end's: some far ends accept no packet without it. */
function newKey(suite: SuiteName, mki?: Uint8Array): MasterKey {
  const key = Uint8Array.from(randomBytes(masterBytesOf(suite)))
  return { suite, key, ...(mki === undefined ? {} : { mki }) }
}
