import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'Хостын нэр',
  subtitle: 'Вэб дэлгүүрт тань хандах нэр. Баталгаажсан нэрээр төлбөрийн хуудас дэлгүүрийг олно.',
  add: 'Хостын нэр нэмэх',
  host: 'Хостын нэр',
  hostHint: 'Жишээ нь shop.example.com: https:// болон замгүй.',
  none: 'Хостын нэр алга',
  noneText: 'Вэб дэлгүүрийнхээ нэрийг нэмж, souk-ийн харуулсан бичлэгийг DNS-д нь бичээд, souk-ээр шалгуулна.',
  added: '{host} нэмэгдлээ: одоо бичлэгийг DNS-д нь бичнэ үү',
  counts: 'Баталгаажсан',
  waits: 'Баталгаажаагүй',
  verify: 'Одоо шалгах',
  writeHint: 'Энэ бичлэгийг нэрийн DNS байгаа газарт бичээд souk-ээр шалгуулна уу. Бүгдэд харагдах хүртэл нэг цаг болж магадгүй.',
  keepHint: 'Бичлэгийг үлдээгээрэй: souk өдөр бүр шалгаж, долоо хоног байхгүй бол нэр хүчингүй болно.',
  type: 'Төрөл',
  name: 'Нэр',
  value: 'Утга',
  since: 'Баталгаажсан',
  verified: '{host} баталгаажлаа',
  removeTitle: '{host}-ийг хасах уу?',
  removeVerified: 'Энэ нэрээр төлбөрийн хуудас дэлгүүрийг олохгүй. Дахин нэмбэл өөр бичлэг хэрэгтэй.',
  removeUnverified: 'Дахин нэмбэл өөр бичлэг хэрэгтэй.',
  removed: '{host} хасагдлаа',
} satisfies Translation<typeof en>
