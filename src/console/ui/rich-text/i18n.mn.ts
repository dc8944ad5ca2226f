import type { Translation } from '../../lib/i18n/catalog.ts'
import type english from './i18n.en.ts'

export default {
  toolbar: 'Хэлбэржүүлэлт',
  strong: 'Тод',
  em: 'Налуу',
  h2: 'Гарчиг',
  h3: 'Дэд гарчиг',
  ul: 'Цэгтэй жагсаалт',
  ol: 'Дугаартай жагсаалт',
  blockquote: 'Ишлэл',
  a: 'Холбоос',
  img: 'Текст доторх зураг',
  undo: 'Буцаах',
  redo: 'Дахин хийх',
  html: 'HTML засах',
  url: 'Хаяг',
  urlWrong: 'https://example.com гэх мэт хаяг, имэйл хаяг эсвэл зам оруулна уу.',
  apply: 'Хэрэглэх',
  removeLink: 'Холбоос арилгах',
  upload: 'Зураг оруулах',
  altHint: 'Зургийг харах боломжгүй хүнд тайлбарлана. Чимэглэл бол хоосон орхино.',
  lost: 'Засварлагч энэ текстийн зарим хэсгийг хасна: {names}',
  lostTitle: 'HTML харагдацаас гарах уу?',
  switch: 'Засварлагчид нээх',
} satisfies Translation<typeof english>
