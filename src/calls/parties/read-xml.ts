// A reader for the small subset of XML that recording clients send: elements, attributes and text. It rejects document
// types, and all entities except the five of XML itself, so that nothing can expand or refer elsewhere. It reads each
// character once.
import { AppError } from '../../lib/errors.ts'

export interface XmlElement {
  /** The name without its namespace prefix. */
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** The text directly inside the element. */
  readonly text: string
}

interface Open extends XmlElement {
  readonly tag: string
  readonly children: XmlElement[]
  text: string
}

// The metadata of a large conference has some hundred elements, five deep.
const maxElements = 2000
const maxDepth = 32
const maxAttributes = 32

const tag = /<(\/?)([A-Za-z_][\w.:-]*)/y
const attribute = /\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const tagEnd = /\s*(\/?)>/y
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Throws AppError siprec_unreadable. */
export function readXml(document: string): XmlElement {
  const root = open('', new Map())
  const path: Open[] = [root]
  let elements = 0
  let at = 0
  while (at < document.length) {
    const inner = path.at(-1) ?? root
    const next = document.indexOf('<', at)
    const end = next === -1 ? document.length : next
    inner.text += plain(document.slice(at, end))
    if (next === -1) break
    const skipped = afterSkipped(document, next, inner)
    if (skipped !== undefined) {
      at = skipped
      continue
    }
    const read = readTag(document, next)
    at = read.at
    if (read.isClosing) {
      if (path.length === 1 || inner.tag !== read.element.tag)
        throw unreadable(`</${read.element.tag}> closes no element`)
      path.pop()
      continue
    }
    elements += 1
    if (elements > maxElements || path.length > maxDepth) throw unreadable('it has more elements than it may')
    inner.children.push(read.element)
    if (!read.isEmpty) path.push(read.element)
  }
  const [top, ...others] = root.children
  if (top === undefined || others.length > 0 || path.length > 1)
    throw unreadable('there is not one root element')
  return top
}

/** Returns all elements of this name, in document order, at any depth. */
export function allNamed(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...allNamed(child, name),
  ])
}

/** Returns the error for a recording session that is refused. */
export function unreadable(because: string): AppError {
  return new AppError('siprec_unreadable', `the metadata of the recording session cannot be read: ${because}`)
}

function open(name: string, attributes: ReadonlyMap<string, string>): Open {
  return { tag: name, name: localName(name), attributes, children: [], text: '' }
}

/** Skips a declaration, a comment or CDATA, whose text is added. Returns undefined for a tag. */
function afterSkipped(document: string, at: number, inner: Open): number | undefined {
  if (document.startsWith('<?', at)) return behind(document, at, '?>')
  if (document.startsWith('<!--', at)) return behind(document, at + 4, '-->')
  if (document.startsWith('<![CDATA[', at)) {
    const end = behind(document, at, ']]>')
    inner.text += document.slice(at + 9, end - 3)
    return end
  }
  if (document.startsWith('<!', at)) throw unreadable('it has a document type')
  return undefined
}

function behind(document: string, at: number, delimiter: string): number {
  const found = document.indexOf(delimiter, at)
  if (found === -1) throw unreadable(`there is no ${delimiter}`)
  return found + delimiter.length
}

function readTag(document: string, from: number) {
  const [opening, slash, name = ''] = matchAt(tag, document, from) ?? []
  if (opening === undefined) throw unreadable('a < does not begin a tag')
  let at = from + opening.length
  const attributes = new Map<string, string>()
  for (let count = 0; ; count += 1) {
    const found = matchAt(attribute, document, at)
    if (found === null) break
    if (count >= maxAttributes) throw unreadable('an element has more attributes than it may')
    const [whole, key = '', double, single = ''] = found
    attributes.set(localName(key), plain(double ?? single))
    at += whole.length
  }
  const end = matchAt(tagEnd, document, at)
  if (end === null) throw unreadable(`<${name}> has no end`)
  return {
    element: open(name, attributes),
    isClosing: slash === '/',
    isEmpty: end[1] === '/',
    at: at + end[0].length,
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

function plain(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]{1,4});|&/gi, (_, name: string | undefined) => {
    const character = name === undefined ? undefined : characterOf(name)
    if (character === undefined) throw unreadable('it has an entity')
    return character
  })
}

function characterOf(name: string): string | undefined {
  if (!name.startsWith('#')) return entities[name]
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0x10_ffff || code === 0 ? undefined : String.fromCodePoint(code)
}
