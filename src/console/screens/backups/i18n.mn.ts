import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  off: 'Унтраалттай: юу ч нөөцлөхгүй байна',
  server: 'Өгөгдлийн сангийн серверийг ажиллуулагч нь нөөцөлнө',
  late: 'Сүүлийн нөөц хэт хуучин',
  lateText: '{n} цагийн дотор хийх ёстой байсан.',
  last: 'Сүүлийн нөөц',
  took: 'Үргэлжилсэн',
  next: 'Дараагийн',
  failures: 'Эхэлснээс хойшх алдаа',
  places: 'Байрлал',
  place: 'Байрлал',
  age: 'Тэнд сүүлд',
  running: 'Явагдаж буй',
  database: 'Өгөгдлийн сан',
  log: 'Бичилтийн бүртгэл',
  damaged: 'Файл гэмтсэн',
  intact: 'Сүүлийн шалгалтаар бүрэн',
  shipping: 'Бүртгэл илгээх',
  shipped: 'Сүүлд илгээсэн',
  every: '{n} с тутам',
  snapshots: 'Агшин',
  now: 'Одоо нөөцлөх',
  asked: 'Нөөцлөх хүсэлт өглөө',
} satisfies Translation<typeof en>
