CREATE TABLE "draft_orders" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"cart_id" text COLLATE "C" NOT NULL,
	"note" text COLLATE "C",
	"sends" integer DEFAULT 0 NOT NULL,
	"sent_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"customer_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"order_ids" text NOT NULL,
	"other_ids" text NOT NULL,
	"finished_at" bigint,
	"listed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "order_days" (
	"shop_id" text COLLATE "C" NOT NULL,
	"day" integer NOT NULL,
	"first" integer NOT NULL,
	"last" integer NOT NULL,
	CONSTRAINT "order_days_shop_id_day_pk" PRIMARY KEY("shop_id","day")
);
--> statement-breakpoint
CREATE TABLE "search_fills" (
	"subject" text COLLATE "C" PRIMARY KEY NOT NULL,
	"below" text COLLATE "C" NOT NULL,
	"done" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "staff" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C",
	"email" text COLLATE "C",
	"name" text COLLATE "C",
	"role" text COLLATE "C" NOT NULL,
	"invited_at" bigint,
	"joined_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
DROP INDEX "customers_shop_name";--> statement-breakpoint
DROP INDEX "orders_customer";--> statement-breakpoint
DROP INDEX "orders_created";--> statement-breakpoint
DROP INDEX "orders_status_number";--> statement-breakpoint
DROP INDEX "orders_email";--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "draft" text;--> statement-breakpoint
ALTER TABLE "customers" ADD COLUMN "erased_at" bigint;--> statement-breakpoint
ALTER TABLE "draft_orders" ADD CONSTRAINT "draft_orders_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "draft_orders" ADD CONSTRAINT "draft_orders_cart_id_carts_id_fk" FOREIGN KEY ("cart_id") REFERENCES "public"."carts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_days" ADD CONSTRAINT "order_days_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "draft_orders_cart" ON "draft_orders" USING btree ("cart_id");--> statement-breakpoint
CREATE INDEX "draft_orders_shop" ON "draft_orders" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "erasures_at" ON "erasures" USING btree ("at");--> statement-breakpoint
CREATE INDEX "erasures_open" ON "erasures" USING btree ("at") WHERE finished_at is null or listed_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "staff_user_shop" ON "staff" USING btree ("user_id","shop_id") WHERE user_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "staff_shop_email" ON "staff" USING btree ("shop_id","email") WHERE email is not null;--> statement-breakpoint
CREATE INDEX "staff_shop" ON "staff" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "addresses_entered" ON "addresses" USING btree ("entered_by") WHERE entered_by is not null;--> statement-breakpoint
CREATE INDEX "gift_cards_customer" ON "gift_cards" USING btree ("customer_id") WHERE customer_id is not null;--> statement-breakpoint
CREATE INDEX "orders_customer_number" ON "orders" USING btree ("customer_id","shop_id","number","id");--> statement-breakpoint
CREATE INDEX "orders_state_number" ON "orders" USING btree ("shop_id","status","payment_status","number");--> statement-breakpoint
CREATE INDEX "orders_email_number" ON "orders" USING btree ("shop_id",lower("email"),"number");--> statement-breakpoint
-- by hand: what orders and products are found by, which a job fills in for those that are there already; and the days of orders
CREATE TABLE "order_words" (
	"shop_id" text COLLATE "C" NOT NULL,
	"number" integer NOT NULL,
	"words" tsvector NOT NULL,
	PRIMARY KEY ("shop_id", "number")
);
--> statement-breakpoint
CREATE INDEX "order_words_words" ON "order_words" USING gin ("words");
--> statement-breakpoint
CREATE TABLE "managed_words" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL REFERENCES "products"("id") ON DELETE cascade,
	"shop_id" text COLLATE "C" NOT NULL,
	"words" tsvector NOT NULL
);
--> statement-breakpoint
CREATE INDEX "managed_words_newest" ON "managed_words" ("shop_id", "id" DESC);
--> statement-breakpoint
CREATE INDEX "managed_words_words" ON "managed_words" USING gin ("words");
--> statement-breakpoint
CREATE TABLE "customer_words" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL REFERENCES "customers"("id") ON DELETE cascade,
	"shop_id" text COLLATE "C" NOT NULL,
	"words" tsvector NOT NULL
);
--> statement-breakpoint
CREATE INDEX "customer_words_newest" ON "customer_words" ("shop_id", "id" DESC);
--> statement-breakpoint
CREATE INDEX "customer_words_words" ON "customer_words" USING gin ("words");
--> statement-breakpoint
INSERT INTO "order_days" ("shop_id", "day", "first", "last")
SELECT "shop_id", "created_at" / 86400000, min("number"), max("number") FROM "orders" GROUP BY "shop_id", "created_at" / 86400000;
--> statement-breakpoint
INSERT INTO "search_fills" ("subject", "below", "done") SELECT 'ORDERS', '~', 0 WHERE EXISTS (SELECT 1 FROM "orders");
--> statement-breakpoint
INSERT INTO "search_fills" ("subject", "below", "done") SELECT 'PRODUCTS', '~', 0 WHERE EXISTS (SELECT 1 FROM "products");
--> statement-breakpoint
INSERT INTO "search_fills" ("subject", "below", "done") SELECT 'CUSTOMERS', '~', 0 WHERE EXISTS (SELECT 1 FROM "customers");
--> statement-breakpoint
-- by hand: whoever opened a shop owns it
INSERT INTO "staff" ("id", "shop_id", "user_id", "role", "joined_at", "created_at", "updated_at")
SELECT 'staff_' || substr("id", 6), "id", "merchant_id", 'OWNER', "created_at", "created_at", "created_at" FROM "shops";
