// Phrases that only machines say, by language: beginnings and ends of greetings, and announcements of networks.
// In lower case, without accents and punctuation, as `plainWords` writes what was heard.

const phrases: Readonly<Record<string, readonly string[]>> = {
  en: [
    'leave a message',
    'leave your message',
    'leave me a message',
    'leave your name and number',
    'record your message',
    'after the tone',
    'after the beep',
    'at the tone',
    'voice mail',
    'voicemail',
    'call has been forwarded',
    'is not available',
    'not available to take your call',
    'cannot take your call',
    'can t take your call',
    'unable to take your call',
    'can t come to the phone',
    'you have reached',
    'you ve reached',
    'the number you have dialed',
    'the number you have dialled',
    'get back to you as soon as',
  ],
  de: [
    'nach dem signalton',
    'nach dem piepton',
    'nach dem ton',
    'nachricht hinterlassen',
    'hinterlassen sie',
    'hinterlass',
    'anrufbeantworter',
    'mailbox',
    'nicht erreichbar',
    'zurzeit nicht erreichbar',
    'rufnummer ist nicht vergeben',
  ],
  es: [
    'deje su mensaje',
    'deja tu mensaje',
    'deje un mensaje',
    'despues de la senal',
    'despues del tono',
    'buzon de voz',
    'contestador',
    'no se encuentra disponible',
    'no esta disponible',
  ],
  fr: [
    'laissez un message',
    'laisser un message',
    'laissez votre message',
    'laissez moi un message',
    'apres le bip',
    'apres le signal sonore',
    'messagerie',
    'boite vocale',
    'n est pas disponible',
    'repondeur',
  ],
  it: [
    'lasciate un messaggio',
    'lascia un messaggio',
    'lasciare un messaggio',
    'dopo il segnale',
    'dopo il bip',
    'segreteria telefonica',
    'non e raggiungibile',
    'non e al momento raggiungibile',
    'utente non disponibile',
  ],
  pt: [
    'deixe sua mensagem',
    'deixe a sua mensagem',
    'deixe o seu recado',
    'deixe seu recado',
    'apos o sinal',
    'depois do sinal',
    'caixa postal',
    'caixa de mensagens',
    'correio de voz',
    'nao esta disponivel',
  ],
}

/** Returns a known phrase in what was said, if there is one. `language`: a BCP 47 tag, or a vendor's name for several. */
export function hintIn(transcript: string, language: string): string | undefined {
  const said = ` ${plainWords(transcript)} `
  const [primary = ''] = language.toLowerCase().split(/[-_]/)
  const known = Object.hasOwn(phrases, primary) ? [phrases[primary] ?? []] : severalOf(primary)
  return known.flat().find((phrase) => said.includes(` ${phrase} `))
}

/** A recogniser of several languages may not say which one it has heard. */
function severalOf(language: string): readonly (readonly string[])[] {
  return language === 'multi' || language === '' ? Object.values(phrases) : []
}

function plainWords(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
