/** Names of WooCommerce's product CSV columns in the languages that use it most. */
import { foldText } from '../../../lib/search-terms.ts'

/**
 * In this order: English as WooCommerce exports it, German, French, Spanish, Italian, Portuguese, Dutch, Polish,
 * Russian, Japanese, Turkish, Chinese, Arabic, Swedish, Czech, Danish, Norwegian, Finnish, Hebrew, Ukrainian.
 * Translations changed over the years, so a language may have several names.
 */
const names = {
  id: 'ID|Identyfikator|Kimlik|المعرف',
  type: 'Type|Typ|Produkttyp|Tipo|Rodzaj|Тип|Тип товара|タイプ|種類|型|Tür|Tip|Ürün türü|类型|類型|النوع|Tyyppi|סוג',
  sku: 'SKU|Artikelnummer|UGS|Référence|REF|Referencia|Referência|COD|Codice|Артикул|商品コード|Stok kodu (SKU)|Stok kodu|货号|رمز المنتج (SKU)|رمز المنتج|Katalogové číslo|Varenummer (SKU)|Varenummer|Produktnummer|Tuotetunnus (SKU)|Tuotetunnus|מק"ט',
  barcode:
    'GTIN, UPC, EAN, or ISBN|GTIN, UPC, EAN oder ISBN|GTIN, UPC, EAN ou ISBN|GTIN, UPC, EAN o ISBN|GTIN, UPC, EAN of ISBN|GTIN, UPC, EAN lub ISBN|GTIN, UPC, EAN или ISBN|GTIN、UPC、EAN、または ISBN|GTIN、UPC、EAN または ISBN|GTIN, UPC, EAN veya ISBN|GTIN、UPC、EAN 或 ISBN|GTIN أو UPC أو EAN أو ISBN|GTIN, UPC, EAN eller ISBN|GTIN, UPC, EAN nebo ISBN|GTIN, UPC, EAN або ISBN',
  name: "Name|Nom|Nombre|Nome|Naam|Nazwa|Имя|Название|Наименование|名前|名称|商品名|İsim|Ad|Adı|Ürün adı|名稱|الاسم|Namn|Název|Назва|Jméno|Navn|Nimi|שם|Ім'я",
  published:
    'Published|Veröffentlicht|Publié|Publié(e)|Publicado|Publicada|Pubblicato|Gepubliceerd|Opublikowano|Opublikowane|Opublikowany|Опубликован|Опубликовано|Опубликованный|公開済み|公開|Yayımlanmış|Yayınlanmış|Yayımlandı|Yayınlandı|已发布|已發佈|منشور|Publicerad|Publikováno|Опубліковано|Publikovaný|Udgivet|Publisert|Julkaistu|פורסם',
  visibility:
    'Visibility in catalog|Visibility in catalogue|Sichtbarkeit im Katalog|Katalogsichtbarkeit|Visibilité dans le catalogue|Visibilidad en el catálogo|Visibilità nel catalogo|Visibilidade no catálogo|Zichtbaarheid in catalogus|Zichtbaarheid in de catalogus|Widoczność w katalogu|Видимость в каталоге|カタログでの表示|カタログの可視性|カタログでの可視性|カタログ表示|Katalogda görünürlük|Katalog görünürlüğü|在列表页可见|الظهور في الكتالوج|Synlighet i katalog|Viditelnost v katalogu|Видимість у каталозі',
  shortDescription:
    'Short description|Kurzbeschreibung|Description courte|Brève description|Descripción corta|Descripción breve|Breve descrizione|Descrizione breve|Descrição curta|Breve descrição|Korte beschrijving|Krótki opis|Краткое описание|Короткое описание|簡単な説明|短い説明|簡潔な説明|商品の簡単な説明|Kısa açıklama|简短描述|簡短描述|الوصف القصير|وصف قصير|Kort beskrivning|Krátký popis|Короткий опис|Kort beskrivelse|Lyhyt kuvaus|תיאור קצר',
  description:
    'Description|Beschreibung|Descripción|Descrizione|Descrição|Beschrijving|Opis|Описание|説明|商品説明|Açıklama|描述|الوصف|Beskrivning|Popis|Опис|Beskrivelse|Kuvaus|תיאור',
  saleFrom:
    'Date sale price starts|Datum, an dem Angebotspreis beginnt|Angebotspreis beginnt am|Beginn des Angebotspreises|Startdatum des Angebotspreises|Date de début de promo|Date de début de promotion|Date de début de la promo|Día en que empieza el precio rebajado|Fecha en que empieza el precio rebajado|Fecha de inicio del precio rebajado|Inicio del precio de oferta|Data di inizio del prezzo di saldo|Data di inizio del prezzo in saldo|Data di inizio del prezzo scontato|Data di inizio saldo|Data inizio saldo|Data di inizio offerta|Data de preço promocional começa em|Data de início do preço promocional|Data de início da promoção|Startdatum actieprijs|Begindatum actieprijs|Datum start actieprijs|Data rozpoczęcia promocji|Data rozpoczęcia ceny promocyjnej|Początek promocji|Дата начала действия продажной цены|Дата начала действия цены распродажи|Дата начала распродажи|Дата начала акции|セール価格の開始日|セール価格開始日|セール開始日|İndirimli fiyatın başladığı tarih|İndirimli fiyat başlangıç tarihi|İndirim başlangıç tarihi|促销开始日期|تاريخ بدء سعر التخفيض',
  saleUntil:
    'Date sale price ends|Datum, an dem Angebotspreis endet|Angebotspreis endet am|Ende des Angebotspreises|Enddatum des Angebotspreises|Date de fin de promo|Date de fin de promotion|Date de fin de la promo|Día en que termina el precio rebajado|Fecha en que termina el precio rebajado|Fecha de fin del precio rebajado|Fin del precio de oferta|Data di fine del prezzo di saldo|Data di fine del prezzo in saldo|Data di fine del prezzo scontato|Data di fine saldo|Data fine saldo|Data di fine offerta|Data de preço promocional termina em|Data de fim do preço promocional|Data de término do preço promocional|Data de fim da promoção|Einddatum actieprijs|Datum einde actieprijs|Data zakończenia promocji|Data zakończenia ceny promocyjnej|Koniec promocji|Дата окончания действия продажной цены|Дата окончания действия цены распродажи|Дата окончания распродажи|Дата окончания акции|セール価格の終了日|セール価格終了日|セール終了日|İndirimli fiyatın bittiği tarih|İndirimli fiyat bitiş tarihi|İndirim bitiş tarihi|促销截止日期|促销结束日期|تاريخ انتهاء سعر التخفيض',
  taxStatus:
    'Tax status|Steuerstatus|Umsatzsteuer-Status|Umsatzsteuerstatus|Besteuerung|État de la TVA|Statut de taxe|Statut fiscal|État de taxe|Estado del impuesto|Estado de impuestos|Stato delle imposte|Stato fiscale|Stato imposta|Status do imposto|Situação do imposto|Estado do imposto|Estado de imposto|Btw-status|Btw status|Belastingstatus|Status podatku|Status podatkowy|Статус налога|Налоговый статус|税ステータス|税金ステータス|税の状態|Vergi durumu|税状态|稅收狀態|حالة الضريبة|Skattestatus|Stav daně|Статус податку|Momsstatus',
  taxClass:
    'Tax class|Steuerklasse|Umsatzsteuerklasse|Classe de TVA|Classe de taxe|Classe fiscale|Clase de impuesto|Clase de impuestos|Aliquota di imposta|Aliquota imposta|Classe di imposta|Classe di tassazione|Classe de imposto|Classe de impostos|Btw-klasse|Btw klasse|Btw-tarief|Belastingklasse|Klasa podatkowa|Klasa podatku|Налоговый класс|Класс налога|税クラス|税区分|税率区分|Vergi sınıfı|税类|稅率類別|فئة الضريبة|Skatteklass|Daňová třída|Клас податку|Momsklasse|Veroluokka',
  inStock:
    'In stock?|Vorrätig?|Auf Lager?|En stock ?|¿Existencias?|¿En existencias?|¿Hay existencias?|¿En inventario?|¿Está en inventario?|Disponibile?|In magazzino?|Em estoque?|Em stock?|Op voorraad?|W magazynie?|Na stanie?|Czy w magazynie?|В наличии?|Наличие|Наличие?|Есть в наличии?|在庫あり?|在庫あり ?|在庫ありますか?|在庫がありますか?|Stokta?|Stokta mı?|Stokta var mı?|有货？|有貨？|متوفر في المخزون؟|متوفر؟|I lager?|Skladem?|В наявності?|På lager?|Varastossa?|במלאי?',
  stock:
    'Stock|Lager|Lagerbestand|Bestand|Inventario|Existencias|Cantidad de existencias|Magazzino|Scorte|Giacenza|Estoque|Voorraad|Stan magazynowy|Magazyn|Zapas|Ilość w magazynie|Запасы|Остаток|Остатки|Склад|Количество|在庫|在庫数|Stok|Stok miktarı|库存|庫存|المخزون|Sklad|Запас|Varasto|מלאי',
  lowStock:
    'Low stock amount|Geringer Lagerbestand|Geringe Lagermenge|Niedriger Lagerbestand|Lagerbestand niedrig|Montant de stock faible|Quantité de stock faible|Seuil de stock faible|Stock faible|Cantidad de bajo inventario|Cantidad de pocas existencias|Cantidad baja de existencias|Umbral de pocas existencias|Quantità in esaurimento|Quantità bassa di magazzino|Soglia di magazzino basso|Importo scorte basse|Quantidade baixa de estoque|Quantidade de estoque baixo|Estoque baixo|Quantidade de stock reduzido|Lage voorraad|Lage voorraadhoeveelheid|Niski stan magazynowy|Niski poziom zapasów|Величина малых запасов|Малое количество запасов|Мало товара|低在庫数|在庫僅少数|在庫の少ない数|Düşük stok miktarı|库存不足|低庫存數量|كمية المخزون المنخفض',
  backorders:
    'Backorders allowed?|Lieferrückstand erlaubt?|Lieferrückstände erlaubt?|Rückstände erlaubt?|Nachbestellungen erlaubt?|Vorbestellungen erlaubt?|Autoriser les commandes de produits en rupture ?|Autoriser les commandes en attente ?|Commandes en attente autorisées ?|Réapprovisionnements autorisés ?|¿Permitir reservas de productos agotados?|¿Permitir reservas?|¿Reservas permitidas?|¿Se permiten reservas?|Abilita gli ordini arretrati?|Ordini arretrati consentiti?|Ordini arretrati permessi?|Permetti ordini arretrati?|São permitidas encomendas?|Encomendas permitidas?|Permitir encomendas?|Aceita encomendas?|Nabestellingen toegestaan?|Nabestellen toegestaan?|Nabestelling toegestaan?|Dopuszczone zamówienia oczekujące?|Zamówienia oczekujące dozwolone?|Dozwolone zamówienia oczekujące?|Czy dozwolone zamówienia oczekujące?|Возможен ли предзаказ?|Предзаказы разрешены?|Предзаказ разрешен?|Разрешены предзаказы?|取り寄せ可能?|取り寄せ可能 ?|お取り寄せ可能?|お取り寄せ可?|予約注文を許可しますか ?|バックオーダーを許可?|Yok satmaya izin?|Yok satmaya izin var mı?|Ön siparişe izin veriliyor mu?|Ön siparişlere izin verildi mi?|允许缺货下单？|允许延期交货？|السماح بالطلبات المؤجلة؟|Restnoteringar tillåtna?|Povoleny nedodělky?|Tillad restordrer?',
  salePrice:
    'Sale price|Angebotspreis|Aktionspreis|Tarif promo|Prix promo|Tarif promotionnel|Prix promotionnel|Prix soldé|Precio rebajado|Precio de oferta|Prezzo in offerta|Prezzo scontato|Prezzo di saldo|Prezzo in saldo|Preço promocional|Preço de promoção|Actieprijs|Aanbiedingsprijs|Cena promocyjna|Цена распродажи|Акционная цена|Цена со скидкой|Цена продажи|セール価格|特売価格|İndirimli satış fiyatı|İndirimli fiyat|İndirimli fiyatı|促销价格|促销价|促銷價格|折扣價|سعر التخفيض|سعر البيع|Reapris|Zvýhodněná cena|Akční cena|Ціна розпродажу|Акційна ціна|Cena po slevě|Udsalgspris|Tilbudspris|Tarjoushinta|מחיר מבצע',
  regularPrice:
    'Regular price|Regulärer Preis|Normaler Preis|Preis|Tarif régulier|Prix régulier|Tarif normal|Prix normal|Tarif|Precio normal|Precio regular|Precio habitual|Prezzo di listino|Prezzo regolare|Prezzo normale|Preço normal|Preço regular|Preço|Reguliere prijs|Normale prijs|Cena regularna|Cena normalna|Cena podstawowa|Cena|Базовая цена|Обычная цена|Регулярная цена|Цена|通常価格|Normal fiyat|Normal fiyatı|Fiyat|常规售价|正常价格|常规价格|原價|一般價格|السعر العادي|السعر الافتراضي|السعر الأساسي|Ordinarie pris|Běžná cena|Звичайна ціна|Normalpris|Normal pris|Vanlig pris|Ordinær pris|Normaalihinta|Normaali hinta|מחיר רגיל',
  categories:
    'Categories|Kategorien|Catégories|Categorías|Categorie|Categorias|Categorieën|Kategorie|Категории|カテゴリー|カテゴリ|Kategoriler|分类|分類|التصنيفات|Kategorier|Категорії|Kategoriat|Osastot|קטגוריות',
  tags: 'Tags|Schlagwörter|Schlagworte|Étiquettes|Etiquetas|Tag|Labels|Tagi|Znaczniki|Метки|Теги|タグ|Etiketler|标签|標籤|الوسوم|Etiketter|Štítky|Позначки|Stikkord|Avainsanat|תגיות',
  images:
    'Images|Bilder|Imágenes|Immagini|Imagens|Afbeeldingen|Obrazki|Obrazy|Zdjęcia|Изображения|Картинки|画像|Görseller|Resimler|图片|圖片|الصور|Obrázky|Зображення|Billeder|Kuvat|תמונות',
  parent:
    'Parent|Übergeordnet|Übergeordnetes Produkt|Elternprodukt|Produit parent|Superior|Padre|Principal|Producto superior|Genitore|Ascendente|Pai|Produto ascendente|Hoofd|Hoofdproduct|Bovenliggend|Ouder|Nadrzędny|Produkt nadrzędny|Rodzic|Родительский|Родитель|Родительский товар|親|親商品|Ebeveyn|Üst|Üst ürün|父级|父級|الأصل|الأب|Överordnad|Förälder|Nadřazený|Батьківський',
  brands: 'Brands|Marken|Marques|Marcas|Marchi|Brand|Merken|Marki|Бренды|ブランド|Markalar|品牌|العلامات التجارية|Varumärken|Značky|Бренди',
} as const

export type WooName = keyof typeof names

/** Removes diacritics, case, punctuation and spaces, which differ between versions. */
const keyOf = (name: string): string =>
  foldText(name)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
/** Also keeps a final question mark: Spanish has the columns "Existencias" and "¿Existencias?". */
const questionKeyOf = (name: string): string => keyOf(name) + (/[?؟]\s*$/.test(name.normalize('NFKC')) ? ' ?' : '')

const fieldByKey = new Map<string, WooName>()
const allNames = (Object.entries(names) as [WooName, string][]).flatMap(([field, all]) =>
  all.split('|').map((name) => [name, field] as const),
)
for (const [name, field] of allNames) fieldByKey.set(questionKeyOf(name), field)
for (const [name, field] of allNames) if (!fieldByKey.has(keyOf(name))) fieldByKey.set(keyOf(name), field)

/** Returns the field of a column name in any of the languages. */
export const wooNameOf = (name: string): WooName | undefined => fieldByKey.get(questionKeyOf(name)) ?? fieldByKey.get(keyOf(name))

const weight =
  /^(?:weight|gewicht|poids|peso|waga|вес|重量|重さ|agirlik|الوزن|vikt|hmotnost|вага|vaegt|vekt|paino|משקל) ?(kg|g|lbs?|oz|кг|г)$/

/** Returns the weight unit in a column name; undefined for other columns. */
export const weightUnitOf = (name: string): string | undefined => weight.exec(keyOf(name))?.[1]?.replace('кг', 'kg').replace('г', 'g')

const attribute =
  /attribut|atribut|attribuut|atrybut|атрибут|属性|屬性|nitelik|ozellik|السمة|سمة|خاصية|egenskap|vlastnost|egenskab|ominaisu|תכונה|מאפיין/
const isDefault =
  /default|defaut|defecto|predetermin|predefinit|padrao|standard|standaard|domysl|умолчан|テフォルト|デフォルト|初期|既定|varsayilan|默认|預設|افتراضي|vychozi|oletus|ברירת|замовчув/
const isValues = /value|wert|valeur|valor|waarde|wartosc|значени|значенн|値|deger|值|قيم|varde|hodnot|vaerdi|verdi|arvo|ערך|ערכי/
const isName = /name|nom\b|nombre|nome\b|naam|nazw|назван|имя|наименован|名|\badi?\b|isim|ismi|اسم|namn|nazev|назва|jmeno|navn|nimi|שם/

/** Returns the attribute number and part that a column holds, for any word order; undefined for other columns. */
export function attributeColumnOf(name: string): { readonly nth: number; readonly part: 'Name' | 'Values' } | undefined {
  const key = keyOf(name)
  const [, digits] = /(?:^|\D)([1-9]\d?)(?!\d)/.exec(key) ?? []
  if (digits === undefined || !attribute.test(key) || isDefault.test(key)) return undefined
  const part = isValues.test(key) ? 'Values' : isName.test(key) ? 'Name' : undefined
  return part && { nth: Number(digits), part }
}
