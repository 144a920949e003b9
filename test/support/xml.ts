// A strict reader for the XML that tests receive: elements, attributes and text only.
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** The text directly in the element. */
  readonly text: string
}

interface Open {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: XmlElement[]
  text: string
}

const token =
  /<\?xml [^?<>]*\?>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*="[^"<]*")*)\s*(\/?)>|([^<>]+)/gy
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Throws an Error with the position where the document is not well-formed (XML 1.0 §2.1). */
export function parseXml(document: string): XmlElement {
  const root: Open = { name: '', attributes: {}, children: [], text: '' }
  const open: Open[] = [root]
  token.lastIndex = 0
  for (let at = 0; at < document.length; at = token.lastIndex) {
    const match = token.exec(document)
    const innermost = open.at(-1)
    if (match === null || innermost === undefined)
      throw new Error(`no XML from ${document.slice(at, at + 60)}`)
    const [whole, closing, name, attributes = '', empty, text] = match
    if (whole.startsWith('<?')) continue
    if (text !== undefined) innermost.text += plain(text)
    else if (closing === '/') {
      if (innermost.name !== name) throw new Error(`</${name}> closes <${innermost.name}>`)
      open.pop()
    } else {
      const element = { name: name ?? '', attributes: attributesIn(attributes), children: [], text: '' }
      innermost.children.push(element)
      if (empty !== '/') open.push(element)
    }
  }
  const [document_] = root.children
  if (open.length !== 1 || root.children.length !== 1 || document_ === undefined || root.text.trim() !== '')
    throw new Error('there is not one root element')
  return document_
}

export function allNamed(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...allNamed(child, name),
  ])
}

function attributesIn(text: string): Readonly<Record<string, string>> {
  const pairs = Array.from(text.matchAll(/([\w.:-]+)="([^"]*)"/g), ([, name = '', value = '']) => [
    name,
    plain(value),
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}

function plain(text: string): string {
  if (/(?![\t\n\r\x80-\x9f\x7f])\p{Cc}/u.test(text)) throw new Error('a character that XML has not')
  return text.replace(/&([^;&]*)(;?)/g, (whole, name: string, end: string) => {
    const character = entities[name]
    if (character === undefined || end === '') throw new Error(`no such entity: ${whole}`)
    return character
  })
}
