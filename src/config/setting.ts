// The shape of a setting, and the kinds that several settings share.
import { isIP } from 'node:net'

export interface Setting<T> {
  readonly name: string
  readonly fallback: string
  readonly describe: string
  /** Throws an Error whose message is the rule that was broken. */
  readonly parse: (text: string) => T
}

export function optionalText(text: string): string | undefined {
  return text === '' ? undefined : text
}

export function apiKey(name: string, describe: string): Setting<string | undefined> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      if (text !== '' && text.length < 16) throw new Error('must have at least 16 characters')
      return optionalText(text)
    },
  }
}

export function domainName(name: string, describe: string): Setting<string | undefined> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      if (text !== '' && (text.length > 253 || !/^([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i.test(text)))
        throw new Error('must be a domain name')
      return optionalText(text.toLowerCase().replace(/\.$/, ''))
    },
  }
}

export function onOff(name: string, describe: string, fallback: 'on' | 'off' = 'off'): Setting<boolean> {
  return {
    name,
    fallback,
    describe,
    parse: (text) => {
      if (text !== 'on' && text !== 'off') throw new Error('must be on or off')
      return text === 'on'
    },
  }
}

export function parseRanges(text: string): readonly string[] {
  const ranges = text.split(',').map((range) => range.trim())
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    const family = isIP(address)
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
      throw new Error('must be a comma-separated list of CIDR ranges')
  }
  return ranges
}

export function port(name: string, fallback: string, describe: string): Setting<number> {
  return {
    name,
    fallback,
    describe,
    parse: (text) => {
      // 0 = any free port, for tests and several instances on one machine.
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
        throw new Error('must be a port number, 0 to 65535')
      return Number(text)
    },
  }
}

/** The largest value of a count; no setting needs more. */
const maxCount = 999_999

export function count(name: string, fallback: string, describe: string, min: number): Setting<number> {
  return {
    name,
    fallback,
    describe,
    parse: (text) => {
      if (!/^\d{1,6}$/.test(text) || Number(text) < min)
        throw new Error(`must be a whole number from ${min} to ${maxCount}`)
      return Number(text)
    },
  }
}
