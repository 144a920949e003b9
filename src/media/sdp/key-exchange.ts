// The keys of one leg over its life: which it offers to whom, which it answers with, and when a key goes on or a new one begins.
import { randomBytes } from 'node:crypto'
import { isSameKey, saltBytes, suites } from '../srtp/suites.ts'
import type { MasterKey, SuiteName } from '../srtp/suites.ts'
import type { SdesProtection } from './agreement.ts'
import type { CryptoLine } from './crypto-lines.ts'
import type { OwnPath } from './path-lines.ts'
import type { Profile } from './profiles.ts'
import { protectionOf } from './profiles.ts'
import type { LocalAudio, MediaSection } from './sdp.ts'

/** How a far end that has said nothing yet is offered its stream: by keys in SDP, or those of a handshake. */
export type OfferedProtection = OfferedKeys | OfferedHandshake

export interface OfferedHandshake {
  /** `browser`: with ICE, or not at all. `ice`: with ICE where the far end has it. `no-ice`: between the ports of the media lines. */
  readonly dtls: 'browser' | 'ice' | 'no-ice'
}

export interface OfferedKeys {
  /** `required`: encrypted or not at all. `possible`: as the far end likes, in the way that many phones understand. */
  readonly sdes: 'required' | 'possible'
  /** Keys are padded to whole base64. */
  readonly padsKeys?: boolean
}

/** What our media line says of protection. */
export type LocalKeys = Pick<LocalAudio, 'profile' | 'crypto' | 'padsKeys' | 'path' | 'mid'>

export const unprotected: LocalKeys = { profile: 'RTP/AVP', crypto: [] }

export interface AnsweredKeys {
  readonly local: LocalKeys
  readonly protection: SdesProtection | undefined
}

// More places than one call tries.
const maxPlaces = 64

export class KeyExchange {
  /** What each place was offered, by a name of its own: the phones of one user may all be asked at once, and from behind one address. */
  readonly #offered = new Map<string, LocalKeys>()
  /** What holds now. */
  #agreed: { readonly local: LocalKeys; readonly protection: SdesProtection } | undefined
  /** Our line, where packets take a path. */
  #onPath: LocalKeys | undefined

  /** Whether packets take a path. */
  get isOnPath(): boolean {
    return this.#onPath !== undefined
  }

  /** The first offer to a place, with keys of its own: another place must not be able to read what is sent to this one. */
  offerTo(place: string, wanted: OfferedKeys | undefined, path?: OwnPath): LocalKeys {
    if (path?.ice === 'alone') return this.#note(place, onPath(path, 'UDP/TLS/RTP/SAVPF', '0'))
    if (path !== undefined) return this.#note(place, onPath(path, 'UDP/TLS/RTP/SAVP', undefined))
    const profile: Profile = wanted?.sdes === 'required' ? 'RTP/SAVP' : 'RTP/AVP'
    const former = this.#offered.get(place)
    const isAgain = former?.profile === profile && former.crypto.length > 0 === (wanted !== undefined)
    const names = wanted === undefined ? [] : (Object.keys(suites) as SuiteName[])
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

  /** A later offer repeats the key in use: nothing about it changes (RFC 4568 §7.1.4). */
  offerAgain(): LocalKeys {
    this.#offered.clear()
    return this.#onPath ?? this.#agreed?.local ?? unprotected
  }

  /** The line of an offer that is answered, with our key that goes with it. */
  answer(section: MediaSection, path?: OwnPath): AnsweredKeys {
    this.#offered.clear()
    const profile = section.profile ?? 'RTP/AVP'
    if (path !== undefined) return { local: onPath(path, profile, section.mid), protection: undefined }
    const chosen = this.#choose(section.crypto.usable)
    if (chosen === undefined) return { local: { ...unprotected, profile }, protection: undefined }
    const agreed = this.#agreed?.protection
    const receive = keyOf(chosen)
    // A far end that begins to count again takes it that this side does, too: its stream is then another one, under another key.
    const send =
      agreed !== undefined && isSameKey(agreed.receive, receive)
        ? agreed.send
        : newKey(receive.suite, receive.mki)
    const { isPadded } = section.crypto
    return {
      local: { profile, crypto: [{ tag: chosen.tag, ...send }], padsKeys: isPadded },
      protection: { form: 'sdes', send, receive },
    }
  }

  /** The answer to what was offered last. Undefined for a plain one; a sentence where it does not fit the offer. */
  accept(section: MediaSection, ours: LocalKeys): SdesProtection | string | undefined {
    if (section.path !== undefined || ours.path !== undefined)
      return section.path !== undefined && ours.path !== undefined
        ? undefined
        : 'the answer has another profile than the offer'
    const isRequired = protectionOf(ours.profile) === 'sdes'
    const named = section.profile === undefined ? 'none' : protectionOf(section.profile)
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

  /** What was offered to the place whose answer has come. */
  offeredTo(place: string): LocalKeys | undefined {
    return this.#offered.get(place)
  }

  /** What offer and answer have come to. */
  agreed(protection: SdesProtection | undefined, local: LocalKeys, hasIce: boolean): void {
    const { path } = local
    // Either side may be what it was in the handshake: RFC 8842 §5.5. And it goes on as ICE has found it, or without.
    const ice = hasIce && path?.ice !== 'none' ? 'alone' : 'none'
    this.#onPath = path && { ...local, path: { ...path, setup: 'actpass', ice } }
    if (protection === undefined) {
      this.#agreed = undefined
      return
    }
    const { send } = protection
    const tag = local.crypto.find((line) => isSameKey(line, send))?.tag ?? 1
    this.#agreed = { protection, local: { ...local, crypto: [{ tag, ...send }] } }
  }

  /** The key in use first, that of a suite with a long tag next, best without an MKI, and then the far end's own order. */
  #choose(lines: readonly CryptoLine[]): CryptoLine | undefined {
    const inUse = this.#agreed?.protection.receive
    return (
      lines.find((line) => inUse !== undefined && isSameKey(line, inUse)) ??
      lines.find(({ suite, mki }) => suites[suite].tagBytes === 10 && mki === undefined) ??
      lines.find(({ suite }) => suites[suite].tagBytes === 10) ??
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

/** Our packets have the identifier that those of the far end have: some take none without it. */
function newKey(suite: SuiteName, mki?: Uint8Array): MasterKey {
  const key = Uint8Array.from(randomBytes(suites[suite].keyBytes + saltBytes))
  return { suite, key, ...(mki === undefined ? {} : { mki }) }
}
