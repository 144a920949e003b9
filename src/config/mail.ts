// Settings for sending mails.
import { optionalText, type Setting } from './setting.ts'

export const mailSettings = {
  smtpUrl: {
    name: 'SWITCHHOOK_SMTP_URL',
    fallback: '',
    describe:
      'The mail server that links for forgotten passwords are sent through, as smtp://user:password@host:port or smtps://; empty sends none.',
    parse: (text) => {
      if (text !== '' && (!/^smtps?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be an smtp:// or smtps:// URL')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  mailFrom: {
    name: 'SWITCHHOOK_MAIL_FROM',
    fallback: 'Switchhook <no-reply@localhost>',
    describe: 'The sender of those mails.',
    parse: (text) => {
      if (!/^[^\r\n]*[^\s@]@[^\s@]+$/.test(text)) throw new Error('must be an e-mail address')
      return text
    },
  } satisfies Setting<string>,
  portalUrl: {
    name: 'SWITCHHOOK_PORTAL_URL',
    fallback: '',
    describe: 'Where people reach the portal, for links in mails; empty for the address of the REST API.',
    parse: (text) => {
      if (text !== '' && (!/^https?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be an http or https URL')
      return optionalText(text.replace(/\/+$/, ''))
    },
  } satisfies Setting<string | undefined>,
}
