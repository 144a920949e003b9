// Settings of STIR/SHAKEN, the signed identity of callers: trusted authorities, and the key that signs calls.
import { optionalText, type Setting } from './setting.ts'

const maxUrlChars = 512

export const shakenSettings = {
  shakenAuthorities: {
    name: 'SWITCHHOOK_SHAKEN_AUTHORITIES',
    fallback: '',
    describe:
      'A file of root certificates in PEM, the trust list of STIR/SHAKEN: Identity headers of calls from carriers are verified against it. Empty: none is verified. It is read again when it changes.',
    parse: optionalText,
  } satisfies Setting<string | undefined>,
  shakenKey: {
    name: 'SWITCHHOOK_SHAKEN_KEY',
    fallback: '',
    describe:
      'The file of a private key of P-256 in PEM, without a password: calls to carriers are signed with it (STIR/SHAKEN). It is read again when it changes.',
    parse: optionalText,
  } satisfies Setting<string | undefined>,
  shakenCertificateUrl: {
    name: 'SWITCHHOOK_SHAKEN_CERTIFICATE_URL',
    fallback: '',
    describe:
      'The https URL at which everyone finds the certificate of that key, followed by those that lead to its root.',
    parse: (text) => {
      const isUsable = URL.canParse(text) && new URL(text).protocol === 'https:' && /^[^\s<>";]+$/.test(text)
      if (text !== '' && (!isUsable || text.length > maxUrlChars))
        throw new Error(`must be an https URL of at most ${maxUrlChars} characters`)
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
}

/** Returns why the settings do not go together, or undefined. */
export function missingForShaken({
  shakenKey,
  shakenCertificateUrl,
}: {
  readonly shakenKey: string | undefined
  readonly shakenCertificateUrl: string | undefined
}): string | undefined {
  if ((shakenKey === undefined) === (shakenCertificateUrl === undefined)) return undefined
  return 'SWITCHHOOK_SHAKEN_KEY and SWITCHHOOK_SHAKEN_CERTIFICATE_URL go together'
}
