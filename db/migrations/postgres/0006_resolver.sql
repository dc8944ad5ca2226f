CREATE TABLE "partnership_lists" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "partnership_shops" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"partnership" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "partnerships" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"default_card_processor" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_methods" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"methods" text NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "processor_isolations" (
	"processor" text COLLATE "C" PRIMARY KEY NOT NULL,
	"isolated_at" bigint NOT NULL,
	"actor" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "partnership_shops" ADD CONSTRAINT "partnership_shops_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "partnership_shops" ADD CONSTRAINT "partnership_shops_partnership_partnerships_name_fk" FOREIGN KEY ("partnership") REFERENCES "public"."partnerships"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_methods" ADD CONSTRAINT "payment_methods_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "partnership_shops_partnership" ON "partnership_shops" USING btree ("partnership");