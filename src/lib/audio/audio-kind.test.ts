import { describe, expect, it } from 'vitest'
import { audioKindOf, headBytes } from './audio-kind.ts'

const ogg = (word: string): string => `OggS${'\0'.repeat(24)}${word}`

describe('the kind of a file', () => {
  it.each([
    ['RIFF....WAVEfmt ', 'wav'],
    ['ID3\x04', 'mp3'],
    ['\xff\xfb\x90\x00', 'mp3'],
    ['\xff\xe3\x18\xc4', 'mp3'],
    [ogg('OpusHead'), 'ogg-opus'],
    [ogg('\x01vorbis'), 'an Ogg Vorbis file'],
    [ogg('Theora'), 'an Ogg file without Opus in it'],
    ['fLaC', 'a FLAC file'],
    ['\xff\xf1\x50\x80', 'an AAC file'],
    ['\xff\xf9\x50\x80', 'an AAC file'],
    ['\0\0\0\x20ftypM4A ', 'an MP4 or M4A file (AAC)'],
    ['#!AMR\n', 'an AMR file'],
    ['FORM....AIFF', 'an AIFF file'],
    ['\n<!DOCTYPE html>', 'an HTML page'],
    ['<?xml version="1.0"?>', 'an XML document'],
    ['{"error":"no"}', 'a JSON document'],
    ['\x1f\x8b\x08', 'a file compressed with gzip'],
    ['', 'empty'],
    ['hello', 'of a kind that is not known'],
  ])('of %j is %s', (text, expected) => {
    const found = audioKindOf(Buffer.from(text, 'latin1'))
    expect(found.kind ?? found.what).toBe(expected)
  })

  it.each([
    ['MPEG 1, 128 kbit/s', [0xff, 0xfb, 0x90, 0x00], 417],
    ['MPEG 1 with padding', [0xff, 0xfb, 0x92, 0x00], 418],
    ['MPEG 2, 16 kbit/s at 16 kHz', [0xff, 0xf3, 0x28, 0xc4], 72],
    ['MPEG 2.5, 8 kbit/s at 8 kHz', [0xff, 0xe3, 0x18, 0xc4], 72],
    ['layer II, 192 kbit/s at 48 kHz', [0xff, 0xfd, 0xa4, 0x00], 576],
  ])('is MP3 if two frames of %s follow other bytes', (_, header, length) => {
    const frame = Buffer.alloc(length)
    frame.set(header)
    for (const before of [Buffer.alloc(4), Buffer.from('\r\n'), Buffer.alloc(9000), Buffer.alloc(77, 0xfe)]) {
      expect(audioKindOf(Buffer.concat([before, frame, frame]))).toEqual({ kind: 'mp3' })
      // One header alone may be chance.
      expect(audioKindOf(Buffer.concat([before, frame])).kind).toBeUndefined()
    }
  })

  it('stays open until the bytes that may come before the first frame are there', () => {
    expect(audioKindOf(Buffer.alloc(64))).toMatchObject({ kind: undefined, isOpen: true })
    expect(audioKindOf(Buffer.alloc(headBytes))).toMatchObject({ kind: undefined, isOpen: false })
  })
})
