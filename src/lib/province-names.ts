import type { Province } from './provinces.ts'

/**
 * Names of provinces in the main languages of their countries, where they differ from the English names of CLDR.
 * One country a line: `DE BY=Bayern|Freistaat Bayern;HE=Hessen`. Names in Latin letters are those of ISO 3166-2.
 */
const table = `
AE AJ=عجمان|إمارة عجمان;AZ=أبوظبي|أبو ظبي|إمارة أبوظبي|إمارة أبو ظبي|Abū Z̧aby;DU=دبي|إمارة دبي|Dubayy;FU=الفجيرة|إمارة الفجيرة|Al Fujayrah;RK=رأس الخيمة|إمارة رأس الخيمة|Ra’s al Khaymah;SH=الشارقة|إمارة الشارقة|Ash Shāriqah;UQ=أم القيوين|إمارة أم القيوين|Umm al Qaywayn
AF NIM=Nīmrōz;PAN=Panjshayr;PIA=Paktiyā;SAR=Sar-e Pul;URU=Uruzgān;WAR=Wardak
AL 11=Tiranë
AM AG=Aragac̣otn;ER=Erevan;GR=Geġark'unik';SH=Širak;TV=Tavuš;VD=Vayoć Jor
AO MAL=Malange
AR C=Ciudad Autónoma de Buenos Aires
AT 2=Kärnten;3=Niederösterreich;4=Oberösterreich;6=Steiermark;7=Tirol;9=Wien
AZ ABS=Abşeron;AGC=Ağcabədi;AGS=Ağdaş;BA=Bakı;BAB=Babək;BAL=Balakən;BAR=Bərdə;BEY=Beyləqan;BIL=Biləsuvar;CAB=Cəbrayıl;CAL=Cəlilabad;CUL=Culfa;DAS=Daşkəsən;FUZ=Füzuli;GA=Gəncə;GAD=Gədəbəy;GOY=Göyçay;HAC=Hacıqabul;IMI=İmişli;ISM=İsmayıllı;KAL=Kəlbəcər;KAN=Kǝngǝrli;KUR=Kürdəmir;LA=Lənkəran;LAC=Laçın;MAS=Masallı;MI=Mingəçevir;NEF=Neftçala;NV=Naxçıvan;OGU=Oğuz;QAB=Qəbələ;QAZ=Qazax;QOB=Qobustan;SA=Şəki;SAD=Sədərək;SAH=Şahbuz;SAR=Şərur;SAT=Saatlı;SBN=Şabran;SIY=Siyəzən;SKR=Şəmkir;SMI=Şamaxı;SMX=Samux;SR=Şirvan;SUS=Şuşa;TAR=Tərtər;UCA=Ucar;XA=Xankəndi;XAC=Xaçmaz;XCI=Xocalı;XIZ=Xızı;XVD=Xocavənd;YAR=Yardımlı;YE=Yevlax;ZAN=Zəngilan;ZAR=Zərdab
BA BIH=Federacija Bosne i Hercegovine;BRC=Brčko Distrikt
BD 03=Bogura;06=Barishal;08=Cumilla;10=Chattogram;22=Jashore;25=Jhalakathi;29=Khagrachhari;38=Moulvibazar;41=Netrakona;45=Chapai Nawabganj;56=Rangamati
BE BRU=Bruxelles|Brussel|Région de Bruxelles-Capitale|Brussels Hoofdstedelijk Gewest;VLG=Vlaanderen|Flandre|Vlaams Gewest;WAL=Wallonie|Waals Gewest;VAN=Antwerpen|Anvers;VBR=Vlaams-Brabant|Brabant flamand;VLI=Limbourg;VOV=Oost-Vlaanderen|Flandre orientale;VWV=West-Vlaanderen|Flandre occidentale;WBR=Brabant wallon|Waals-Brabant;WHT=Henegouwen;WLG=Luik;WLX=Luxemburg;WNA=Namen
BG 22=Sofia (stolitsa)|София|София-град|София (столица);01=Благоевград;02=Бургас;03=Варна;04=Велико Търново;05=Видин;06=Враца;07=Габрово;08=Добрич;09=Кърджали;10=Кюстендил;11=Ловеч;12=Монтана;13=Пазарджик;14=Перник;15=Плевен;16=Пловдив;17=Разград;18=Русе;19=Силистра;20=Сливен;21=Смолян;23=Софийска област;24=Стара Загора;25=Търговище;26=Хасково;27=Шумен;28=Ямбол
BH 13=Al ‘Āşimah|العاصمة|محافظة العاصمة;14=Al Janūbīyah|الجنوبية|المحافظة الجنوبية;15=Al Muḩarraq|المحرق|محافظة المحرق;17=Ash Shamālīyah|الشمالية|المحافظة الشمالية
BI BM=Bujumbura Mairie
BJ AK=Atacora;KO=Couffo
BO B=El Beni
BR DF=Distrito Federal
BS CK=Crooked Island and Long Cay;FP=City of Freeport
BT 12=Chhukha;42=Monggar;43=Pema Gatshel;44=Lhuentse;TY=Trashi Yangtse
BY BR=Brestskaya voblasts';HM=Horad Minsk;HO=Homyel'skaya voblasts';HR=Hrodzyenskaya voblasts';MA=Mahilyowskaya voblasts';MI=Minskaya voblasts';VI=Vitsyebskaya voblasts'
CA BC=Colombie-Britannique;NB=Nouveau-Brunswick;NL=Terre-Neuve-et-Labrador;NS=Nouvelle-Écosse;NT=Territoires du Nord-Ouest;PE=Île-du-Prince-Édouard
CD BC=Kongo Central;NK=Nord-Kivu;SK=Sud-Kivu
CF HS=Haute-Sangha;KB=Gribingui;KG=Kémo-Gribingui;SE=Sangha
CH AG=Argovie|Argovia;AI=Appenzell Rhodes-Intérieures|Appenzello Interno;AR=Appenzell Rhodes-Extérieures|Appenzello Esterno;BE=Berne|Berna;BL=Bâle-Campagne|Basilea Campagna;BS=Bâle-Ville|Basilea Città;FR=Freiburg|Friburgo;GE=Genève|Genf|Ginevra;GL=Glaris|Glarona;GR=Grisons|Grigioni;JU=Giura;LU=Luzern|Lucerna;NE=Neuenburg;NW=Nidwald|Nidvaldo;OW=Obwald|Obvaldo;SG=Sankt Gallen|Saint-Gall|San Gallo;SH=Schaffhouse|Sciaffusa;SO=Soleure|Soletta;SZ=Svitto;TG=Thurgovie|Turgovia;TI=Tessin;VD=Waadt;VS=Wallis|Vallese;ZG=Zoug|Zugo;ZH=Zurigo
CL AI=Aisén del General Carlos Ibañez del Campo;AR=La Araucanía;BI=Biobío;MA=Magallanes;RM=Región Metropolitana de Santiago
CM AD=Adamaoua;NW=North-West;SW=South-West
CN AH=安徽省|安徽|Anhui Sheng;BJ=北京市|北京|Beijing Shi;CQ=重庆市|重庆|重慶|Chongqing Shi|重慶市;FJ=福建省|福建|Fujian Sheng;GD=广东省|广东|廣東|Guangdong Sheng|廣東省;GS=甘肃省|甘肃|甘肅|Gansu Sheng|甘肅省;GX=广西壮族自治区|广西|廣西|Guangxi Zhuangzu Zizhiqu|廣西壯族自治區;GZ=贵州省|贵州|貴州|Guizhou Sheng|貴州省;HA=河南省|河南|Henan Sheng;HB=湖北省|湖北|Hubei Sheng;HE=河北省|河北|Hebei Sheng;HI=海南省|海南|Hainan Sheng;HL=黑龙江省|黑龙江|黑龍江|Heilongjiang Sheng|黑龍江省;HN=湖南省|湖南|Hunan Sheng;JL=吉林省|吉林|Jilin Sheng;JS=江苏省|江苏|江蘇|Jiangsu Sheng|江蘇省;JX=江西省|江西|Jiangxi Sheng;LN=辽宁省|辽宁|遼寧|Liaoning Sheng|遼寧省;NM=内蒙古自治区|内蒙古|Nei Mongol Zizhiqu|內蒙古自治區|內蒙古;NX=宁夏回族自治区|宁夏|寧夏|Ningxia Huizu Zizhiqu|寧夏回族自治區;QH=青海省|青海|Qinghai Sheng;SC=四川省|四川|Sichuan Sheng;SD=山东省|山东|山東|Shandong Sheng|山東省;SH=上海市|上海|Shanghai Shi;SN=陕西省|陕西|陝西|Shaanxi Sheng|陝西省;SX=山西省|山西|Shanxi Sheng;TJ=天津市|天津|Tianjin Shi;XJ=新疆维吾尔自治区|新疆|Xinjiang Uygur Zizhiqu|新疆維吾爾自治區;XZ=西藏自治区|西藏|Xizang Zizhiqu|西藏自治區;YN=云南省|云南|雲南|Yunnan Sheng|雲南省;ZJ=浙江省|浙江|Zhejiang Sheng;HK=香港特别行政区|香港|Hong Kong SAR;MO=澳门特别行政区|澳门|澳門|Macao SAR;TW=台湾省|台湾|台灣|臺灣|Taiwan Sheng
CO DC=Distrito Capital de Bogotá;SAP=Providencia y Santa Catalina San Andrés|San Andrés
CU 03=La Habana
CV B=Ilhas de Barlavento;S=Ilhas de Sotavento
CY 01=Lefkosia;02=Lemesos;03=Larnaka;04=Ammochostos;05=Pafos;06=Keryneia
CZ 10=Hlavní město Praha|Praha;20=Středočeský kraj;209=Praha-východ;20A=Praha-západ;31=Jihočeský kraj;32=Plzeňský kraj;323=Plzeň-město;324=Plzeň-jih;325=Plzeň-sever;41=Karlovarský kraj;42=Ústecký kraj;51=Liberecký kraj;52=Královéhradecký kraj;53=Pardubický kraj;63=Kraj Vysočina;64=Jihomoravský kraj;71=Olomoucký kraj;72=Zlínský kraj;80=Moravskoslezský kraj;806=Ostrava-město
DE BY=Bayern|Freistaat Bayern;HE=Hessen;NI=Niedersachsen;NW=Nordrhein-Westfalen;RP=Rheinland-Pfalz;SN=Sachsen|Freistaat Sachsen;ST=Sachsen-Anhalt;TH=Thüringen|Freistaat Thüringen
DK 81=Region Nordjylland;82=Region Midjylland;83=Region Syddanmark;84=Region Hovedstaden;85=Region Sjælland
DO 01=Distrito Nacional (Santo Domingo)
DZ 11=Tamanrasset;16=Alger;42=Tipaza
EE 37=Harjumaa;84=Viljandimaa
EG ALX=Al Iskandarīyah|الإسكندرية;BA=Al Baḩr al Aḩmar|البحر الأحمر;BH=Al Buḩayrah|البحيرة;BNS=Banī Suwayf|بني سويف;C=Al Qāhirah|القاهرة;DK=Ad Daqahlīyah|الدقهلية;DT=Dumyāţ|دمياط;FYM=Al Fayyūm|الفيوم;GH=Al Gharbīyah|الغربية;GZ=Al Jīzah|الجيزة;IS=Al Ismā'īlīyah|الإسماعيلية;JS=Janūb Sīnā'|جنوب سيناء;KB=Al Qalyūbīyah|القليوبية;KFS=Kafr ash Shaykh|كفر الشيخ;KN=Qinā|قنا;LX=Al Uqşur|الأقصر;MN=Al Minyā|المنيا;MNF=Al Minūfīyah|المنوفية;MT=Maţrūḩ|مطروح;PTS=Būr Sa‘īd|بورسعيد;SHG=Sūhāj|سوهاج;SHR=Ash Sharqīyah|الشرقية;SIN=Shamāl Sīnā'|شمال سيناء;SUZ=As Suways|السويس;WAD=Al Wādī al Jadīd|الوادي الجديد;ASN=أسوان;AST=أسيوط
ER AN=Ansabā;DK=Janūbī al Baḩrī al Aḩmar;DU=Al Janūbī;GB=Qāsh-Barkah;MA=Al Awsaţ;SK=Shimālī al Baḩrī al Aḩmar
ES CT=Cataluña|Catalunya;PV=País Vasco|Euskadi;VC=Comunidad Valenciana|Comunitat Valenciana|Valenciana;IB=Islas Baleares|Illes Balears|Baleares;CN=Canarias|Islas Canarias;AN=Andalucía;AS=Principado de Asturias;CL=Castilla y León;CM=Castilla-La Mancha;MD=Comunidad de Madrid;MC=Región de Murcia;NC=Comunidad Foral de Navarra;SE=Sevilla;A=Alacant;CS=Castelló;BI=Vizcaya|Bizkaia;SS=Guipúzcoa;VI=Araba;C=La Coruña;GI=Gerona;L=Lérida;OR=Orense;M=Madrid
ET AA=Ādīs Ābeba;AM=Āmara;BE=Bīnshangul Gumuz;GA=Gambēla Hizboch;HA=Hārerī Hizb;OR=Oromīya;SN=YeDebub Bihēroch Bihēreseboch na Hizboch;SO=Sumalē;SW=YeDebub M‘irab Ītyop’iya Hizboch
FI 02=Etelä-Karjala;03=Etelä-Pohjanmaa;04=Etelä-Savo;06=Kanta-Häme;07=Keski-Pohjanmaa;08=Keski-Suomi;10=Lappi;12=Pohjanmaa;13=Pohjois-Karjala;14=Pohjois-Pohjanmaa;15=Pohjois-Savo;16=Päijät-Häme;19=Varsinais-Suomi
FJ 08=Nadroga and Navosa
FR 20R=Corsica;BFC=Bourgogne-Franche-Comté;BRE=Bretagne;IDF=Île-de-France;NC=Nouvelle-Calédonie;PF=Polynésie française;PM=Saint-Pierre-et-Miquelon;TF=Terres australes françaises;WF=Wallis-et-Futuna
GB ABE=Aberdeen City;AGY=Isle of Anglesey;BFS=Belfast City;BST=City of Bristol;DND=Dundee City;DUR=County Durham;EDH=City of Edinburgh;ELS=Eilean Siar;GLG=Glasgow City;LND=City of London;PTE=Peterborough;RCT=Rhondda Cynon Taff;SHN=St. Helens;VGL=The Vale of Glamorgan;ZET=Shetland Islands
GD 10=Southern Grenadine Islands
GE RL=Rach'a-Lechkhumi-Kvemo Svaneti
GL KU=Kommune Kujalleq;QE=Qeqqata Kommunia;SM=Kommuneqarfik Sermersooq
GM L=Lower River;M=Central River;N=North Bank;U=Upper River;W=Western
GN GU=Guékédou
GQ C=Región Continental;I=Región Insular
GR 69=Ágion Óros;A=Anatolikí Makedonía kai|Ανατολική Μακεδονία και Θράκη;B=Kentrikí Makedonía|Κεντρική Μακεδονία;C=Dytikí Makedonía|Δυτική Μακεδονία;D=Ípeiros|Ήπειρος;E=Thessalía|Θεσσαλία;F=Ionía Nísia|Ιόνια Νησιά;G=Dytikí Elláda|Δυτική Ελλάδα;H=Stereá Elláda|Στερεά Ελλάδα;I=Attikí|Αττική;J=Pelopónnisos|Πελοπόννησος;K=Vóreio Aigaío|Βόρειο Αιγαίο;L=Nótio Aigaío|Νότιο Αιγαίο;M=Kríti|Κρήτη
GW BL=Bijagós
HN IB=Islas de la Bahía
HR 01=Zagrebačka županija;02=Krapinsko-zagorska županija;03=Sisačko-moslavačka županija;04=Karlovačka županija;05=Varaždinska županija;06=Koprivničko-križevačka županija;07=Bjelovarsko-bilogorska županija;08=Primorsko-goranska županija;09=Ličko-senjska županija;10=Virovitičko-podravska županija;11=Požeško-slavonska županija;12=Brodsko-posavska županija;13=Zadarska županija;14=Osječko-baranjska županija;15=Šibensko-kninska županija;16=Vukovarsko-srijemska županija;17=Splitsko-dalmatinska županija;18=Istarska županija;19=Dubrovačko-neretvanska županija;20=Međimurska županija;21=Grad Zagreb
HT GA=Grande’Anse
HU CS=Csongrád-Csanád
ID BB=Kepulauan Bangka Belitung;JB=Jawa Barat;JI=Jawa Timur;JK=Jakarta Raya;JT=Jawa Tengah;JW=Jawa;KB=Kalimantan Barat;KI=Kalimantan Timur;KR=Kepulauan Riau;KS=Kalimantan Selatan;KT=Kalimantan Tengah;KU=Kalimantan Utara;MU=Maluku Utara;NB=Nusa Tenggara Barat;NT=Nusa Tenggara Timur;NU=Nusa Tenggara;PB=Papua Barat;SA=Sulawesi Utara;SB=Sumatera Barat;SG=Sulawesi Tenggara;SM=Sumatera;SN=Sulawesi Selatan;SR=Sulawesi Barat;SS=Sumatera Selatan;ST=Sulawesi Tengah;SU=Sumatera Utara
IE C=Connaught
IL D=HaDarom;HA=H̱efa;JM=Yerushalayim;M=HaMerkaz;TA=Tel Aviv;Z=HaTsafon
IN PY=Puducherry (Pondicherry)
IQ AR=Arbīl|أربيل;BA=Al Başrah|البصرة;BB=Bābil|بابل;DA=Dahūk|دهوك;KR=Iqlīm Kūrdistān;NA=An Najaf|النجف;NI=Nīnawá|نينوى;QA=Al Qādisīyah|القادسية;SD=Şalāḩ ad Dīn|صلاح الدين;SU=As Sulaymānīyah|السليمانية;AN=الأنبار;BG=بغداد;DI=ديالى;DQ=ذي قار;KA=كربلاء;KI=كركوك;MA=ميسان;MU=المثنى;WA=واسط
IR 03=Āz̄ārbāyjān-e Shārqī;04=Āz̄ārbāyjān-e Ghārbī;10=Eşfahān;11=Sīstān va Balūchestān;12=Kordestān;14=Chahār Maḩāl va Bakhtīārī;17=Kohgīlūyeh va Bowyer Aḩmad;28=Khorāsān-e Shomālī;29=Khorāsān-e Jonūbī
IS 1=Höfuðborgarsvæði;2=Suðurnes;3=Vesturland;4=Vestfirðir;5=Norðurland vestra;6=Norðurland eystra;7=Austurland;8=Suðurland
IT 21=Piemonte;23=Valle d'Aosta|Vallée d'Aoste Valle d'Aosta;25=Lombardia;32=Trentino-Alto Adige|Südtirol|Trentino-Südtirol|Trentino-Südtirol Trentino-Alto Adige;52=Toscana;75=Puglia;82=Sicilia;88=Sardegna;BZ=Bolzano|Bozen|Bozen Bolzano;RM=Roma;MI=Milano;TO=Torino;NA=Napoli;FI=Firenze;VE=Venezia;GE=Genova;MB=Monza e Brianza;MN=Mantova;MS=Massa-Carrara;PD=Padova;PU=Pesaro e Urbino;SR=Siracusa;TN=Trento
JO AJ=‘Ajlūn;AM=Al ‘A̅şimah;AQ=Al ‘Aqabah;AT=Aţ Ţafīlah;AZ=Az Zarqā’;BA=Al Balqā’;JA=Jarash;KA=Al Karak;MA=Al Mafraq
JP 01=北海道;02=青森県|青森;03=岩手県|岩手;04=宮城県|宮城;05=秋田県|秋田;06=山形県|山形;07=福島県|福島|Hukusima;08=茨城県|茨城;09=栃木県|栃木|Totigi;10=群馬県|群馬;11=埼玉県|埼玉;12=千葉県|千葉|Tiba;13=東京都|東京;14=神奈川県|神奈川;15=新潟県|新潟;16=富山県|富山;17=石川県|石川|Isikawa;18=福井県|福井|Hukui;19=山梨県|山梨|Yamanasi;20=長野県|長野;21=岐阜県|岐阜|Gihu;22=静岡県|静岡|Sizuoka;23=愛知県|愛知|Aiti;24=三重県|三重;25=滋賀県|滋賀|Siga;26=京都府|京都;27=大阪府|大阪;28=兵庫県|兵庫;29=奈良県|奈良;30=和歌山県|和歌山;31=鳥取県|鳥取;32=島根県|島根|Simane;33=岡山県|岡山;34=広島県|広島|Hirosima;35=山口県|山口|Yamaguti;36=徳島県|徳島|Tokusima;37=香川県|香川;38=愛媛県|愛媛;39=高知県|高知|Kôti;40=福岡県|福岡|Hukuoka;41=佐賀県|佐賀;42=長崎県|長崎;43=熊本県|熊本;44=大分県|大分;45=宮崎県|宮崎;46=鹿児島県|鹿児島|Kagosima;47=沖縄県|沖縄
KE 05=Elgeyo|Marakwet;30=Nairobi City;39=Taita|Taveta
KG GB=Bishkek Shaary;GO=Osh Shaary;Y=Ysyk-Köl
KH 1=Banteay Mean Choăy;10=Kracheh;11=Mondol Kiri;14=Prey Veaeng;15=Pousaat;16=Rotanak Kiri;17=Siem Reab;18=Preah Sihanouk;19=Stueng Traeng;2=Baat Dambang;20=Svaay Rieng;21=Taakaev;22=Otdar Mean Chey;23=Kaeb;3=Kampong Chaam;5=Kampong Spueu;6=Kampong Thum;8=Kandaal;9=Kaoh Kong
KP 02=P'yǒngan-namdo;03=P'yǒngan-bukto;04=Chagang-do;05=Hwanghae-namdo;06=Hwanghae-bukto;07=Kangwǒn-do;08=Hamgyǒng-namdo;09=Hamgyǒng-bukto;10=Ryanggang-do;14=Namp’o;15=Kaesŏng
KR 11=서울특별시|서울|서울시|Seoul-teukbyeolsi;26=부산광역시|부산|부산시|Busan-gwangyeoksi;27=대구광역시|대구|대구시|Daegu-gwangyeoksi;28=인천광역시|인천|인천시|Incheon-gwangyeoksi;29=광주광역시|광주|광주시|Gwangju-gwangyeoksi;30=대전광역시|대전|대전시|Daejeon-gwangyeoksi;31=울산광역시|울산|울산시|Ulsan-gwangyeoksi;41=경기도|경기|Gyeonggi-do;42=강원도|강원특별자치도|강원|Gangwon-teukbyeoljachido;43=충청북도|충북|Chungcheongbuk-do;44=충청남도|충남|Chungcheongnam-do;45=전라북도|전북특별자치도|전북|Jeollabuk-do;46=전라남도|전남|Jeollanam-do;47=경상북도|경북|Gyeongsangbuk-do;48=경상남도|경남|Gyeongsangnam-do;49=제주특별자치도|제주도|제주|Jeju-teukbyeoljachido;50=세종특별자치시|세종|세종시
KW MU=Mubārak al Kabīr|مبارك الكبير|محافظة مبارك الكبير;AH=الأحمدي|محافظة الأحمدي;FA=الفروانية|محافظة الفروانية;HA=حولي|محافظة حولي;JA=الجهراء|محافظة الجهراء;KU=العاصمة|محافظة العاصمة
KZ 10=Abay;62=Ulytaū
LA AT=Attapu;BL=Bolikhamxai;HO=Houaphan;KH=Khammouan;LM=Louang Namtha;LP=Louangphabang;OU=Oudômxai;PH=Phôngsali;VI=Viangchan;XA=Xaignabouli;XE=Xékong
LB AK=Aakkâr|عكار;AS=Liban-Nord|الشمال|لبنان الشمالي;BA=Beyrouth|بيروت;JA=Liban-Sud|الجنوب|لبنان الجنوبي;JL=Mont-Liban|جبل لبنان;NA=Nabatîyé|النبطية;BH=بعلبك الهرمل;BI=البقاع
LK 1=Basnāhira paḷāta;11=Kŏḷamba;2=Madhyama paḷāta;21=Mahanuvara;23=Nuvara Ĕliya;3=Dakuṇu paḷāta;31=Gālla;4=Uturu paḷāta;41=Yāpanaya;43=Mannārama;44=Vavuniyāva;45=Mulativ;5=Næ̆gĕnahira paḷāta;51=Maḍakalapuva;53=Trikuṇāmalaya;6=Vayamba paḷāta;61=Kuruṇægala;62=Puttalama;7=Uturumæ̆da paḷāta;72=Pŏḷŏnnaruva;8=Ūva paḷāta;82=Mŏṇarāgala;9=Sabaragamuva paḷāta;92=Kægalla
LR RI=River Cess
LS B=Botha-Bothe
LT 02=Alytaus miestas;15=Kauno miestas;17=Kazlų Rūdos;20=Klaipėdos miestas;31=Palangos miestas;32=Panevėžio miestas;43=Šiaulių miestas;57=Vilniaus miestas;AL=Alytaus apskritis;KL=Klaipėdos apskritis;KU=Kauno apskritis;MR=Marijampolės apskritis;PN=Panevėžio apskritis;SA=Šiaulių apskritis;TA=Tauragės apskritis;TE=Telšių apskritis;UT=Utenos apskritis;VL=Vilniaus apskritis
LV 002=Aizkraukles novads;007=Alūksnes novads;011=Ādažu novads;015=Balvu novads;016=Bauskas novads;022=Cēsu novads;026=Dobeles novads;033=Gulbenes novads;041=Jelgavas novads;042=Jēkabpils novads;047=Krāslavas novads;050=Kuldīgas novads;052=Ķekavas novads;054=Limbažu novads;056=Līvānu novads;058=Ludzas novads;059=Madonas novads;062=Mārupes novads;067=Ogres novads;068=Olaines novads;073=Preiļu novads;077=Rēzeknes novads;080=Ropažu novads;087=Salaspils novads;088=Saldus novads;089=Saulkrastu novads;091=Siguldas novads;094=Smiltenes novads;097=Talsu novads;099=Tukuma novads;101=Valkas novads;102=Varakļānu novads;106=Ventspils novads
LY BA=Banghāzī;BU=Al Buţnān;DR=Darnah;JA=Al Jabal al Akhḑar;JG=Al Jabal al Gharbī;JI=Al Jafārah;JU=Al Jufrah;KF=Al Kufrah;MB=Al Marqab;MI=Mişrātah;MJ=Al Marj;NQ=An Nuqāţ al Khams;SR=Surt;TB=Ţarābulus;WD=Wādī al Ḩayāt;WS=Wādī ash Shāţi’;ZA=Az Zāwiyah
MA 01=Tanger-Tétouan-Al Hoceïma;02=L'Oriental;03=Fès-Meknès;04=Rabat-Salé-Kénitra;05=Béni Mellal-Khénifra;06=Casablanca-Settat;07=Marrakech-Safi;08=Drâa-Tafilalet;09=Souss-Massa;10=Guelmim-Oued Noun (EH-partial);11=Laâyoune-Sakia El Hamra (EH-partial);12=Dakhla-Oued Ed-Dahab (EH);AOU=Aousserd (EH);ASZ=Assa-Zag (EH-partial);BES=Benslimane;BOD=Boujdour (EH);ESM=Es-Semara (EH-partial);FAH=Fahs-Anjra;KES=El Kelâa des Sraghna;LAA=Laâyoune (EH);MOH=Mohammadia;OUD=Oued Ed-Dahab (EH);SKH=Skhirate-Témara;TAR=Taroudannt;TNG=Tanger-Assilah;TNT=Tan-Tan (EH-partial)
MC JE=Jardin Exotique;PH=Port-Hercule;SD=Sainte-Dévote
MD GA=Unitatea teritorială autonomă (UTAG) Găgăuzia;SN=unitatea teritorială din Stînga Nistrului|Stînga Nistrului
MH ALK=Ailuk;ALL=Ailinglaplap;EBO=Ebon;ENI=Enewetak & Ujelang;JAB=Jabat;JAL=Jaluit;KIL=Bikini & Kili;LIK=Likiep;MAL=Maloelap;MEJ=Mejit;MIL=Mili;NMK=Namdrik;NMU=Namu;RON=Rongelap;UJA=Ujae;UTI=Utrik;WTH=Wotho;WTJ=Wotje
MM 18=Nay Pyi Taw
MN 1=Улаанбаатар;035=Орхон|Орхон аймаг|Orhon;037=Дархан-Уул|Дархан-Уул аймаг|Darhan uul;039=Хэнтий|Хэнтий аймаг|Hentiy;041=Хөвсгөл|Хөвсгөл аймаг|Hövsgöl;043=Ховд|Ховд аймаг|Hovd;046=Увс|Увс аймаг;047=Төв|Төв аймаг;049=Сэлэнгэ|Сэлэнгэ аймаг;051=Сүхбаатар|Сүхбаатар аймаг|Sühbaatar;053=Өмнөговь|Өмнөговь аймаг;055=Өвөрхангай|Өвөрхангай аймаг|Övörhangay;057=Завхан|Завхан аймаг|Dzavhan;059=Дундговь|Дундговь аймаг;061=Дорнод|Дорнод аймаг;063=Дорноговь|Дорноговь аймаг;064=Говьсүмбэр|Говьсүмбэр аймаг|Govĭ-Sümber;065=Говь-Алтай|Говь-Алтай аймаг|Govĭ-Altay;067=Булган|Булган аймаг;069=Баянхонгор|Баянхонгор аймаг|Bayanhongor;071=Баян-Өлгий|Баян-Өлгий аймаг|Bayan-Ölgiy;073=Архангай|Архангай аймаг|Arhangay
MR 13=Nuwākshūţ al Gharbīyah;14=Nuwākshūţ ash Shamālīyah;15=Nuwākshūţ al Janūbīyah
MT 06=Bormla;20=Isla;35=Mtarfa;45=Rabat Għawdex;46=Rabat Malta;48=San Ġiljan;50=San Lawrenz;51=San Pawl il-Baħar;65=Żebbuġ Għawdex;66=Żebbuġ Malta
MU AG=Agalega Islands;BL=Black River;CC=Cargados Carajos Shoals;RO=Rodrigues Island
MV 00=Ariatholhu Dhekunuburi;02=Ariatholhu Uthuruburi;03=Faadhippolhu;04=Felidheatholhu;05=Hahdhunmathi;07=Thiladhunmathee Uthuruburi;08=Kolhumadulu;12=Mulakatholhu;13=Maalhosmadulu Uthuruburi;14=Nilandheatholhu Uthuruburi;17=Nilandheatholhu Dhekunuburi;20=Maalhosmadulu Dhekunuburi;23=Thiladhunmathee Dhekunuburi;24=Miladhunmadulu Uthuruburi;25=Miladhunmadulu Dhekunuburi;26=Maaleatholhu;27=Huvadhuatholhu Uthuruburi;28=Huvadhuatholhu Dhekunuburi;29=Fuvammulah;MLE=Maale
MW C=Chapakati;N=Chakumpoto;S=Chakumwera
MX COA=Coahuila de Zaragoza;MEX=México;MIC=Michoacán de Ocampo;VER=Veracruz de Ignacio de la Llave;CMX=CDMX|Mexico City|Distrito Federal|DIF|D.F.
MY 04=Melaka;07=Pulau Pinang;14=Wilayah Persekutuan Kuala Lumpur;15=Wilayah Persekutuan Labuan;16=Wilayah Persekutuan Putrajaya
NA KA=
NG FC=Abuja Federal Capital Territory
NI AN=Costa Caribe Norte;AS=Costa Caribe Sur
NL FR=Fryslân;NB=Noord-Brabant;NH=Noord-Holland;ZH=Zuid-Holland
NO 54=Troms og Finnmark
NP P1=Koshī;P2=Madhesh;P7=Sudūrpashchim
NR 05=Baitsi
NZ CIT=Chatham Islands Territory;MBH=Marlborough;MWT=Manawatū-Whanganui;WGN=Greater Wellington
OM BU=Al Buraymī;MA=Masqaţ;ZA=Az̧ Z̧āhirah;ZU=Z̧ufār
PA 10=Panamá Oeste;NB=Ngäbe-Buglé
PE LMA=Municipalidad Metropolitana de Lima
PG NCD=National Capital District (Port Moresby);NPP=Northern;SAN=West Sepik
PH 00=National Capital Region;14=Autonomous Region in Muslim Mindanao;15=Cordillera Administrative Region;COM=Davao de Oro;MDC=Mindoro Occidental;MDR=Mindoro Oriental;MOU=Mountain Province
PK JK=Āzād Jammūñ o Kashmīr;KP=Khaībar Pakhtūnkhwā;PB=Panjāb
PL 02=Dolnośląskie;04=Kujawsko-Pomorskie;06=Lubelskie;08=Lubuskie;10=Łódzkie;12=Małopolskie;14=Mazowieckie;16=Opolskie;18=Podkarpackie;20=Podlaskie;22=Pomorskie;24=Śląskie;26=Świętokrzyskie;28=Warmińsko-Mazurskie;30=Wielkopolskie;32=Zachodniopomorskie
PS BTH=Bayt Laḩm;DEB=Dayr al Balaḩ;GZA=Ghazzah;HBN=Al Khalīl;JEM=Al Quds;JEN=Janīn;JRH=Arīḩā wal Aghwār;NGZ=Shamāl Ghazzah;QQA=Qalqīlyah;RBH=Rām Allāh wal Bīrah
PT 11=Lisboa;20=Região Autónoma dos Açores;30=Região Autónoma da Madeira
QA DA=Ad Dawḩah;KH=Al Khawr wa adh Dhakhīrah;MS=Ash Shamāl;RA=Ar Rayyān;ZA=Az̧ Z̧a‘āyin
RO B=București
RS 01=Severnobački okrug;02=Srednjebanatski okrug;03=Severnobanatski okrug;04=Južnobanatski okrug;05=Zapadnobački okrug;06=Južnobački okrug;07=Sremski okrug;08=Mačvanski okrug;09=Kolubarski okrug;10=Podunavski okrug;11=Braničevski okrug;12=Šumadijski okrug;13=Pomoravski okrug;14=Borski okrug;15=Zaječarski okrug;16=Zlatiborski okrug;17=Moravički okrug;18=Raški okrug;19=Rasinski okrug;20=Nišavski okrug;21=Toplički okrug;22=Pirotski okrug;23=Jablanički okrug;24=Pčinjski okrug;25=Kosovski okrug;26=Pećki okrug;27=Prizrenski okrug;28=Kosovsko-Mitrovački okrug;29=Kosovsko-Pomoravski okrug
RU AD=Адыгея|Республика Адыгея|Respublika Adygeya|Adygeya;AL=Алтай|Республика Алтай|Respublika Altay|Altay;ALT=Алтайский край|Altayskiy kray;AMU=Амурская область|Амурская обл|Amurskaya oblast';ARK=Архангельская область|Архангельская обл|Arkhangel'skaya oblast';AST=Астраханская область|Астраханская обл|Astrakhanskaya oblast';BA=Башкортостан|Республика Башкортостан|Respublika Bashkortostan;BEL=Белгородская область|Белгородская обл|Belgorodskaya oblast';BRY=Брянская область|Брянская обл|Bryanskaya oblast';BU=Бурятия|Республика Бурятия|Respublika Buryatiya|Buryatiya;CE=Чечня|Чеченская Республика|Chechenskaya Respublika;CHE=Челябинская область|Челябинская обл|Chelyabinskaya oblast';CHU=Чукотский автономный округ|Чукотка|Chukotskiy avtonomnyy okrug;CU=Чувашия|Чувашская Республика|Chuvashskaya Respublika;DA=Дагестан|Республика Дагестан|Respublika Dagestan;IN=Ингушетия|Республика Ингушетия|Respublika Ingushetiya|Ingushetiya;IRK=Иркутская область|Иркутская обл|Irkutskaya oblast';IVA=Ивановская область|Ивановская обл|Ivanovskaya oblast';KAM=Камчатский край|Kamchatskiy kray;KB=Кабардино-Балкария|Кабардино-Балкарская Республика|Kabardino-;KC=Карачаево-Черкесия|Карачаево-Черкесская Республика|Karachayevo-Cherkesskaya;KDA=Краснодарский край|Krasnodarskiy kray;KEM=Кемеровская область|Кемеровская обл|Кузбасс|Kemerovskaya oblast';KGD=Калининградская область|Калининградская обл|Kaliningradskaya oblast';KGN=Курганская область|Курганская обл|Kurganskaya oblast';KHA=Хабаровский край|Khabarovskiy kray;KHM=Ханты-Мансийский автономный округ|Ханты-Мансийский автономный округ - Югра|Khanty-;KIR=Кировская область|Кировская обл|Kirovskaya oblast';KK=Хакасия|Республика Хакасия|Respublika Khakasiya|Khakasiya;KL=Калмыкия|Республика Калмыкия|Respublika Kalmykiya|Kalmykiya;KLU=Калужская область|Калужская обл|Kaluzhskaya oblast';KO=Коми|Республика Коми|Respublika Komi;KOS=Костромская область|Костромская обл|Kostromskaya oblast';KR=Карелия|Республика Карелия|Respublika Kareliya|Kareliya;KRS=Курская область|Курская обл|Kurskaya oblast';KYA=Красноярский край|Krasnoyarskiy kray;LEN=Ленинградская область|Ленинградская обл|Leningradskaya;LIP=Липецкая область|Липецкая обл|Lipetskaya oblast';MAG=Магаданская область|Магаданская обл|Magadanskaya oblast';ME=Марий Эл|Республика Марий Эл|Respublika Mariy El|Mariy El;MO=Мордовия|Республика Мордовия|Respublika Mordoviya|Mordoviya;MOS=Московская область|Московская обл|Moskovskaya oblast';MOW=Москва|Moskva;MUR=Мурманская область|Мурманская обл|Murmanskaya oblast';NEN=Ненецкий автономный округ|Nenetskiy;NGR=Новгородская область|Новгородская обл|Novgorodskaya oblast';NIZ=Нижегородская область|Нижегородская обл|Nizhegorodskaya oblast';NVS=Новосибирская область|Новосибирская обл|Novosibirskaya;OMS=Омская область|Омская обл|Omskaya oblast';ORE=Оренбургская область|Оренбургская обл|Orenburgskaya oblast';ORL=Орловская область|Орловская обл|Orlovskaya oblast';PER=Пермский край|Permskiy kray;PNZ=Пензенская область|Пензенская обл|Penzenskaya oblast';PRI=Приморский край|Primorskiy kray;PSK=Псковская область|Псковская обл|Pskovskaya oblast';ROS=Ростовская область|Ростовская обл|Rostovskaya oblast';RYA=Рязанская область|Рязанская обл|Ryazanskaya oblast';SA=Саха|Якутия|Республика Саха (Якутия)|Respublika Saha|Saha;SAK=Сахалинская область|Сахалинская обл|Sakhalinskaya oblast';SAM=Самарская область|Самарская обл|Samarskaya oblast';SAR=Саратовская область|Саратовская обл|Saratovskaya oblast';SE=Северная Осетия|Северная Осетия - Алания|Respublika Severnaya Osetiya|Severnaya Osetiya;SMO=Смоленская область|Смоленская обл|Smolenskaya oblast';SPE=Санкт-Петербург|Sankt-Peterburg;STA=Ставропольский край|Stavropol'skiy kray;SVE=Свердловская область|Свердловская обл|Sverdlovskaya oblast';TA=Татарстан|Республика Татарстан|Respublika Tatarstan;TAM=Тамбовская область|Тамбовская обл|Tambovskaya oblast';TOM=Томская область|Томская обл|Tomskaya oblast';TUL=Тульская область|Тульская обл|Tul'skaya oblast';TVE=Тверская область|Тверская обл|Tverskaya oblast';TY=Тыва|Республика Тыва|Тува|Республика Тува|Respublika Tyva|Tyva;TYU=Тюменская область|Тюменская обл|Tyumenskaya oblast';UD=Удмуртия|Удмуртская Республика|Udmurtskaya Respublika;ULY=Ульяновская область|Ульяновская обл|Ul'yanovskaya oblast';VGG=Волгоградская область|Волгоградская обл|Volgogradskaya;VLA=Владимирская область|Владимирская обл|Vladimirskaya;VLG=Вологодская область|Вологодская обл|Vologodskaya oblast';VOR=Воронежская область|Воронежская обл|Voronezhskaya oblast';YAN=Ямало-Ненецкий автономный округ|Yamalo-;YAR=Ярославская область|Ярославская обл|Yaroslavskaya oblast';YEV=Еврейская автономная область|Еврейская автономная обл|Yevreyskaya avtonomnaya oblast';ZAB=Забайкальский край|Zabaykal'skiy kray
RW 01=City of Kigali
SA 01=الرياض|منطقة الرياض|Ar Riyāḑ;02=مكة المكرمة|مكة|منطقة مكة المكرمة|Makkah al Mukarramah;03=المدينة المنورة|المدينة|منطقة المدينة المنورة|Al Madīnah al Munawwarah;04=المنطقة الشرقية|الشرقية|Ash Sharqīyah;05=القصيم|منطقة القصيم|Al Qaşīm;06=حائل|منطقة حائل;07=تبوك|منطقة تبوك;08=الحدود الشمالية|منطقة الحدود الشمالية|Al Ḩudūd ash Shamālīyah;09=جازان|جيزان|منطقة جازان|Jāzān;10=نجران|منطقة نجران;11=الباحة|منطقة الباحة;12=الجوف|منطقة الجوف;14=عسير|منطقة عسير
SB CT=Capital Territory (Honiara)
SC 13=Grand Anse Mahe;14=Grand Anse Praslin;16=English River;20=Pointe Larue
SD DC=Wasaţ Dārfūr;DE=Sharq Dārfūr;DN=Shamāl Dārfūr;DS=Janūb Dārfūr;DW=Gharb Dārfūr;GK=Gharb Kurdufān;KH=Al Kharţūm;KN=Shamāl Kurdufān;KS=Janūb Kurdufān;NB=An Nīl al Azraq;NO=Ash Shamālīyah;NR=Nahr an Nīl;NW=An Nīl al Abyaḑ;RS=Al Baḩr al Aḩmar;SI=Sinnār
SE AB=Stockholms län;AC=Västerbottens län;BD=Norrbottens län;C=Uppsala län;D=Södermanlands län;E=Östergötlands län;F=Jönköpings län;G=Kronobergs län;H=Kalmar län;I=Gotlands län;K=Blekinge län;M=Skåne län;N=Hallands län;O=Västra Götalands län;S=Värmlands län;T=Örebro län;U=Västmanlands län;W=Dalarnas län;X=Gävleborgs län;Y=Västernorrlands län;Z=Jämtlands län
SH AC=Ascension
SI 044=Kanal ob Soči;116=Sveti Jurij ob Ščavnici
SK BC=Banskobystrický kraj;BL=Bratislavský kraj;KI=Košický kraj;NI=Nitriansky kraj;PV=Prešovský kraj;TA=Trnavský kraj;TC=Trenčiansky kraj;ZI=Žilinský kraj
SL W=Western Area (Freetown)
SM 07=Città di San Marino
SO BY=Bay;HI=Hiiraan;JD=Jubbada Dhexe;JH=Jubbada Hoose;NU=Nugaal;SD=Shabeellaha Dhexe;SH=Shabeellaha Hoose
SY DI=Dimashq;DR=Dar'ā;DY=Dayr az Zawr;HI=Ḩimş;HL=Ḩalab;HM=Ḩamāh;LA=Al Lādhiqīyah;QU=Al Qunayţirah
TD BA=Al Baţḩā’;BG=Baḩr al Ghazāl;BO=Būrkū;CB=Shārī Bāqirmī;EE=Inīdī ash Sharqī;EO=Inīdī al Gharbī;GR=Qīrā;HL=Ḩajjar Lamīs;KA=Kānim;LC=Al Buḩayrah;LO=Lūghūn al Gharbī;LR=Lūghūn ash Sharqī;MA=Māndūl;MC=Shārī al Awsaţ;ME=Māyū Kībbī ash Sharqī;MO=Māyū Kībbī al Gharbī;ND=Madīnat Injamīnā;OD=Waddāy;TA=Tānjīlī;TI=Tibastī
TG M=Maritime (Région)
TH 10=กรุงเทพมหานคร|กรุงเทพ|กรุงเทพฯ|Krung Thep Maha Nakhon;11=สมุทรปราการ|จังหวัดสมุทรปราการ;12=นนทบุรี|จังหวัดนนทบุรี;13=ปทุมธานี|จังหวัดปทุมธานี;14=พระนครศรีอยุธยา|จังหวัดพระนครศรีอยุธยา|อยุธยา|จังหวัดอยุธยา;15=อ่างทอง|จังหวัดอ่างทอง;16=ลพบุรี|จังหวัดลพบุรี|Lop Buri;17=สิงห์บุรี|จังหวัดสิงห์บุรี;18=ชัยนาท|จังหวัดชัยนาท;19=สระบุรี|จังหวัดสระบุรี;20=ชลบุรี|จังหวัดชลบุรี;21=ระยอง|จังหวัดระยอง;22=จันทบุรี|จังหวัดจันทบุรี;23=ตราด|จังหวัดตราด;24=ฉะเชิงเทรา|จังหวัดฉะเชิงเทรา;25=ปราจีนบุรี|จังหวัดปราจีนบุรี;26=นครนายก|จังหวัดนครนายก;27=สระแก้ว|จังหวัดสระแก้ว;30=นครราชสีมา|จังหวัดนครราชสีมา;31=บุรีรัมย์|จังหวัดบุรีรัมย์;32=สุรินทร์|จังหวัดสุรินทร์;33=ศรีสะเกษ|จังหวัดศรีสะเกษ;34=อุบลราชธานี|จังหวัดอุบลราชธานี;35=ยโสธร|จังหวัดยโสธร;36=ชัยภูมิ|จังหวัดชัยภูมิ;37=อำนาจเจริญ|จังหวัดอำนาจเจริญ;38=บึงกาฬ|จังหวัดบึงกาฬ;39=หนองบัวลำภู|จังหวัดหนองบัวลำภู;40=ขอนแก่น|จังหวัดขอนแก่น;41=อุดรธานี|จังหวัดอุดรธานี;42=เลย|จังหวัดเลย;43=หนองคาย|จังหวัดหนองคาย;44=มหาสารคาม|จังหวัดมหาสารคาม;45=ร้อยเอ็ด|จังหวัดร้อยเอ็ด;46=กาฬสินธุ์|จังหวัดกาฬสินธุ์;47=สกลนคร|จังหวัดสกลนคร;48=นครพนม|จังหวัดนครพนม;49=มุกดาหาร|จังหวัดมุกดาหาร;50=เชียงใหม่|จังหวัดเชียงใหม่;51=ลำพูน|จังหวัดลำพูน;52=ลำปาง|จังหวัดลำปาง;53=อุตรดิตถ์|จังหวัดอุตรดิตถ์;54=แพร่|จังหวัดแพร่;55=น่าน|จังหวัดน่าน;56=พะเยา|จังหวัดพะเยา;57=เชียงราย|จังหวัดเชียงราย;58=แม่ฮ่องสอน|จังหวัดแม่ฮ่องสอน;60=นครสวรรค์|จังหวัดนครสวรรค์;61=อุทัยธานี|จังหวัดอุทัยธานี;62=กำแพงเพชร|จังหวัดกำแพงเพชร;63=ตาก|จังหวัดตาก;64=สุโขทัย|จังหวัดสุโขทัย;65=พิษณุโลก|จังหวัดพิษณุโลก;66=พิจิตร|จังหวัดพิจิตร;67=เพชรบูรณ์|จังหวัดเพชรบูรณ์;70=ราชบุรี|จังหวัดราชบุรี;71=กาญจนบุรี|จังหวัดกาญจนบุรี;72=สุพรรณบุรี|จังหวัดสุพรรณบุรี|Suphan Buri;73=นครปฐม|จังหวัดนครปฐม;74=สมุทรสาคร|จังหวัดสมุทรสาคร;75=สมุทรสงคราม|จังหวัดสมุทรสงคราม;76=เพชรบุรี|จังหวัดเพชรบุรี;77=ประจวบคีรีขันธ์|จังหวัดประจวบคีรีขันธ์;80=นครศรีธรรมราช|จังหวัดนครศรีธรรมราช;81=กระบี่|จังหวัดกระบี่;82=พังงา|จังหวัดพังงา|Phangnga;83=ภูเก็ต|จังหวัดภูเก็ต;84=สุราษฎร์ธานี|จังหวัดสุราษฎร์ธานี;85=ระนอง|จังหวัดระนอง;86=ชุมพร|จังหวัดชุมพร;90=สงขลา|จังหวัดสงขลา;91=สตูล|จังหวัดสตูล;92=ตรัง|จังหวัดตรัง;93=พัทลุง|จังหวัดพัทลุง;94=ปัตตานี|จังหวัดปัตตานี;95=ยะลา|จังหวัดยะลา;96=นราธิวาส|จังหวัดนราธิวาส;S=พัทยา|Phatthaya
TJ GB=Kŭhistoni Badakhshon
TL OE=Oé-Cusse Ambeno
TN 12=L'Ariana;14=La Manouba;33=Le Kef
TO 01='Eua;02=Ha'apai;05=Vava'u
TV NMG=Nanumaga
TW TPE=臺北市|台北市|台北;NWT=新北市|新北;TXG=臺中市|台中市|台中;TNN=臺南市|台南市|台南;KHH=高雄市|高雄;TAO=桃園市|桃園;KEE=基隆市|基隆;HSZ=新竹市;HSQ=新竹縣;CYI=嘉義市;CYQ=嘉義縣;MIA=苗栗縣|苗栗;CHA=彰化縣|彰化;NAN=南投縣|南投;YUN=雲林縣|雲林;PIF=屏東縣|屏東;ILA=宜蘭縣|宜蘭;HUA=花蓮縣|花蓮;TTT=臺東縣|台東縣|台東;PEN=澎湖縣|澎湖;KIN=金門縣|金門;LIE=連江縣|連江
TZ 06=Kaskazini Pemba;07=Kaskazini Unguja;10=Kusini Pemba;11=Kusini Unguja;15=Mjini Magharibi
UA 05=Вінницька область|Вінницька обл|Vinnytska oblast;07=Волинська область|Волинська обл|Volynska oblast;09=Луганська область|Луганська обл|Luhanska oblast;12=Дніпропетровська область|Дніпропетровська обл|Dnipropetrovska oblast;14=Донецька область|Донецька обл|Donetska oblast;18=Житомирська область|Житомирська обл|Zhytomyrska oblast;21=Закарпатська область|Закарпатська обл|Zakarpatska oblast;23=Запорізька область|Запорізька обл|Zaporizka oblast;26=Івано-Франківська область|Івано-Франківська обл|Ivano-Frankivska oblast;30=Київ|м. Київ;32=Київська область|Київська обл|Kyivska oblast;35=Кіровоградська область|Кіровоградська обл|Kirovohradska oblast;40=Севастополь;43=Крим|Автономна Республіка Крим|Avtonomna Respublika Krym;46=Львівська область|Львівська обл|Lvivska oblast;48=Миколаївська область|Миколаївська обл|Mykolaivska oblast;51=Одеська область|Одеська обл|Odeska oblast;53=Полтавська область|Полтавська обл|Poltavska oblast;56=Рівненська область|Рівненська обл|Rivnenska oblast;59=Сумська область|Сумська обл|Sumska oblast;61=Тернопільська область|Тернопільська обл|Ternopilska oblast;63=Харківська область|Харківська обл|Kharkivska oblast;65=Херсонська область|Херсонська обл|Khersonska oblast;68=Хмельницька область|Хмельницька обл|Khmelnytska oblast;71=Черкаська область|Черкаська обл|Cherkaska oblast;74=Чернігівська область|Чернігівська обл|Chernihivska oblast;77=Чернівецька область|Чернівецька обл|Chernivetska oblast
UG 220=Bukwo;331=Omoro
UM 71=Midway Islands
US DC=District of Columbia;UM=United States Minor Outlying Islands;VI=United States Virgin Islands
UZ AN=Andijon;BU=Buxoro;FA=Farg‘ona;JI=Jizzax;QR=Qoraqalpog‘iston Respublikasi;TK=Toshkent
VE A=Distrito Capital;W=Dependencias Federales;X=La Guaira
VN HN=Hà Nội;HP=Hải Phòng;SG=Hồ Chí Minh
YE DA=Aḑ Ḑāli‘;HD=Ḩaḑramawt;SD=Şāʻdah;SN=Şanʻā’;TA=Tāʻizz
`

/** Lists the local names of provinces. A province with several names is listed once per name. */
export const localProvinceNames = (): (Province & { country: string })[] =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [country = '', names = ''] = [line.slice(0, 2), line.slice(3)]
      return names.split(';').flatMap((part) => {
        const [code = '', list = ''] = part.split('=')
        return list.split('|').map((name) => ({ country, code, name }))
      })
    })
