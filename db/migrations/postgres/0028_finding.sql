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
DROP INDEX "customers_shop_name";--> statement-breakpoint
DROP INDEX "orders_customer";--> statement-breakpoint
DROP INDEX "orders_created";--> statement-breakpoint
DROP INDEX "orders_status_number";--> statement-breakpoint
DROP INDEX "orders_email";--> statement-breakpoint
ALTER TABLE "order_days" ADD CONSTRAINT "order_days_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
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
